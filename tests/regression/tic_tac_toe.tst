# Tic-tac-toe, for a player that counts out: alphazero gtp solver --game tic_tac_toe

# A win at once.
boardsize 3
clear_board
play black A1
play white C3
play black A2
play white C2
10 reg_genmove black
#? [A3]

# White would win there: the game stands still after reg_genmove.
20 reg_genmove black
#? [A3]
play black B2
30 reg_genmove white
#? [C1]

# An only defence.
clear_board
play black B2
play white A3
play black B1
40 genmove white
#? [B3]

# After a corner any answer but the middle loses.
clear_board
play black C1
50 reg_genmove white
#? [B2]
60 reg_genmove white
#? [!A1|A2|A3|B1|B3|C2|C3]

# The winner is known when the game is over, and not before.
clear_board
play black A1
play white B1
play black A2
play white B2
70 final_score
#? [cannot score.*]
play black A3
80 final_score
#? [B\+]
90 genmove white
#? [illegal move: the game is over]

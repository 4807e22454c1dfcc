# Othello as gtp-rhino plays it, rows counted from the top: alphazero gtp random --game othello

boardsize 8
clear_board
30 play black D3
#? []
40 play white A1
#? [illegal move]
50 play black C5
#? [illegal move: it is white's turn]
60 play white pass
#? [illegal move]
70 play white C5
#? []
80 final_score
#? [cannot score.*]

# The shortest game, in which Black takes everything: 13 discs.
clear_board
play black E6
play white F4
play black E3
play white F6
play black G5
play white D6
play black E7
play white F5
play black C5
100 final_score
#? [B\+13]
110 genmove white
#? [PASS|pass]

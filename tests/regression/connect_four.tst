# Connect Four, for a player that counts out: alphazero gtp solver --game connect_four

# Cells are named where the stone comes to lie: D1 twice is not legal.
clear_board
play black D1
10 play white D1
#? [illegal move]
20 play white D3
#? [illegal move]
30 play white D2
#? []

# Three in a row in the bottom row, open on one side.
clear_board
play black A1
play white A2
play black B1
play white B2
play black C1
40 reg_genmove white
#? [D1]
play white G1
50 genmove black
#? [D1]
60 final_score
#? [B\+]

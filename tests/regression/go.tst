# Go's rules as GTP tells them; the player does not matter: alphazero gtp random --game go

boardsize 5
komi 0.5
clear_board

# A stone in the corner is taken off.
play white A1
play black A2
play black B1
10 final_score
#? [B\+24.5]
20 final_status_list alive
#? [A2\nB1|B1\nA2]

# Ko: taking back at once is not legal, after another move it is.
clear_board
play black B3
play white C3
play black A2
play white D2
play black B1
play white C1
play black C2
play white B2
30 play black C2
#? [illegal move]
play black E5
play white E4
40 play black C2
#? []

# Suicide is not legal.
clear_board
play white A2
play white B1
50 play black A1
#? [illegal move]

# A second pass ends the game, a third changes nothing, and a move takes the passes back.
clear_board
play black C3
play white pass
60 play black pass
#? []
70 genmove white
#? [PASS|pass]
80 play white pass
#? []
82 play black C3
#? [illegal move]
84 genmove white
#? [PASS|pass]
86 play white A1
#? []
88 final_score
#? [W\+0.5|0|[BW]\+[0-9.]+]

# Handicap stones, on boards that have room for them.
90 set_free_handicap A1 B2
#? [board not empty]
clear_board
100 fixed_handicap 2
#? [invalid handicap: the board is too small]
110 set_free_handicap A1 B2
#? []
120 final_score
#? [B\+24.5]
boardsize 9
130 fixed_handicap 5
#? [C3 G7 C7 G3 E5]
undo
140 fixed_handicap 9
#? [C3 G7 C7 G3 C5 G5 E3 E7 E5]
boardsize 19
150 fixed_handicap 4
#? [D4 Q16 D16 Q4]
undo
160 fixed_handicap 3
#? [D4 Q16 D16]

# The komi leaves the moves.
boardsize 5
clear_board
komi 0.5
play white A2
play white B1
160 play black A1
#? [illegal move]
170 final_status_list alive
#? [A2\nB1|B1\nA2]
180 final_score
#? [W\+25.5]
komi 1.5
190 final_score
#? [W\+26.5]
210 get_komi
#? [1.5]

# alt: The causal mask in three grids, a row per query and a column per key. Four queries and four keys: query 0 sees key 0, query 3 sees all, the lower triangle. Two queries and four keys: query 0 is token 2 and sees keys 0 to 2, query 1 is token 3 and sees all four. Four queries and two keys: queries 0 and 1 see no key, query 2 sees key 0, query 3 sees both.
# data: none
drawing = 196
load 'plots/style.gp'
T = 22
TOP = 62
array X[3] = [24, 158, 296]
array QUERIES[3] = [4, 2, 4]
array KEYS[3] = [4, 4, 2]
array TITLE[3] = ['4 queries, 4 keys', '2 queries, 4 keys', '4 queries, 2 keys']
do for [n = 1:3] {
    eval say(X[n] - 14, 14, 'left', INK, TITLE[n])
    do for [j = 0:KEYS[n] - 1] {
        eval say(X[n] + (j + 0.5) * T, TOP - 14, 'center', ORANGE, sprintf('%d', j))
    }
    do for [i = 0:QUERIES[n] - 1] {
        eval say(X[n] - 8, TOP + (i + 0.5) * T, 'right', GOOD, sprintf('%d', i))
        do for [j = 0:KEYS[n] - 1] {
            eval box(X[n] + j * T, TOP + i * T, T, T, j <= i + KEYS[n] - QUERIES[n] ? FAINT : GRID, SOFT)
        }
    }
}
eval box(10, TOP + 4 * T + 20, 14, 14, FAINT, SOFT)
eval say(30, TOP + 4 * T + 27, 'left', INK, 'seen')
eval box(74, TOP + 4 * T + 20, 14, 14, GRID, SOFT)
eval say(94, TOP + 4 * T + 27, 'left', INK, 'hidden')
eval say(158, TOP + 4 * T + 27, 'left', GOOD, 'rows: queries')
eval say(264, TOP + 4 * T + 27, 'left', ORANGE, 'columns: keys')
plot NaN notitle

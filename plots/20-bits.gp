# alt: Bits of the angle of pair 0 at position 131071. An fp32 number in radians has 17 bits in front of the point and 7 behind it. In revolutions it has 15 in front and 9 behind. The integer drops what stands in front of the point and keeps 32 bits behind it. As an fp32 number it then has 24 bits behind the point.
# data: none
drawing = 262
load 'plots/style.gp'
point = 150
bit = 6.6
H = 22
row(n) = 50 + 54 * n
eval say(point - 8, 16, 'right', INK, '{/:Bold whole}')
eval say(point + 8, 16, 'left', INK, '{/:Bold behind the point}')
eval line(point, 28, point, 258, GRID)
array said[4] = ['radians in fp32', 'revolutions in fp32', 'revolutions as an integer', 'the same, rounded to fp32']
array whole[4] = [17, 15, 0, 0]
array behind[4] = [7, 9, 32, 24]
do for [n = 1:4] {
    y = row(n - 1) + 6
    eval say(point + 8, y - 12, 'left', SOFT, said[n])
    if (whole[n] > 0) {
        eval box(point - whole[n] * bit, y, whole[n] * bit, H, PANEL, ORANGE)
        eval say(point - whole[n] * bit / 2, y + H / 2, 'center', ORANGE, sprintf('%d bits', whole[n]))
    }
    if (whole[n] == 0) { eval say(point - 8, y + H / 2, 'right', SOFT, 'lost') }
    x = point + (n == 4 ? bit : 0)
    eval box(x, y, behind[n] * bit, H, FAINT, GOOD)
    eval say(x + behind[n] * bit / 2, y + H / 2, 'center', GOOD, sprintf('%d bits', behind[n]))
}
plot NaN notitle

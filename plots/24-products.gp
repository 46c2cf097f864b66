# alt: How the products hang together. S = Q K^T leads to P = exp(S - lse), and P to the product dV = P^T dO. The product dP = dO V^T and P lead to dS = P (dP - delta), element by element, and dS to the products dK = dS^T Q and dQ = dS K. Below, which kernel makes which products: dq kernel makes S, dP and dQ, three; dkv kernel makes S, dP, dV and dK, four; so S and dP are made twice.
# data: none
drawing = 258
load 'plots/style.gp'
# A box from x, y with a text: a product, or an operation on each element.
H = 26
inside(x, y, w, text) = '; ' . say(x + w / 2, y + H / 2, 'center', INK, text)
product(x, y, w, text) = box(x, y, w, H, FAINT, GOOD) . inside(x, y, w, text)
element(x, y, w, text) = box(x, y, w, H, PANEL, SOFT) . inside(x, y, w, text)
eval product(22, 10, 116, 'S = Q Kᵀ')
eval product(246, 10, 116, 'dP = dO Vᵀ')
eval element(12, 64, 136, 'P = exp(S − lse)')
eval element(224, 64, 160, 'dS = P · (dP − delta)')
eval product(22, 118, 116, 'dV = Pᵀ dO')
eval product(196, 118, 96, 'dK = dSᵀ Q')
eval product(304, 118, 84, 'dQ = dS K')
eval arrow(80, 36, 80, 62, INK)
eval arrow(80, 90, 80, 116, INK)
eval arrow(304, 36, 304, 62, INK)
eval arrow(148, 77, 222, 77, INK)
eval arrow(260, 90, 260, 116, INK)
eval arrow(346, 90, 346, 116, INK)

# The kernels that compute each product; a product of two kernels is computed twice.
which = 'S dP dV dK dQ'
kernels = "'dq kernel' 'dkv kernel'"
makes = '11001 11110'
do for [i = 1:2] {
    y = 168 + (i - 1) * 32
    mine = word(makes, i)
    count = 0
    eval say(12, y + H / 2, 'left', INK, word(kernels, i))
    do for [j = 1:5] {
        made = mine[j:j] eq '1'
        count = count + made
        x = 98 + (j - 1) * 42
        twice = j < 3
        eval box(x, y, 38, H, made && !twice ? FAINT : PANEL, !made ? GRID : twice ? ORANGE : GOOD)
        if (made) { eval say(x + 19, y + H / 2, 'center', twice ? ORANGE : INK, word(which, j)) }
    }
    eval say(316, y + H / 2, 'left', INK, sprintf('%d products', count))
}
eval say(98, 243, 'left', ORANGE, 'two kernels make S and dP twice')
plot NaN notitle

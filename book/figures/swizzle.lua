-- Eight rows of eight chunks of 16 bytes in shared memory, plain and swizzled, and the column that
-- ldmatrix reads.
local text, count = figure.text, figure.count
local WIDE, HIGH = 18, 17 -- of a chunk
local TOP, BANKS_OF_CHUNK = 34, 4

local function plain_place(row, chunk) return chunk end

-- ~ is exclusive or, ^ in C.
local function swizzled_place(row, chunk) return chunk ~ row % 8 end

-- How many chunks of the column lie at each place of a row, that is in each four banks; the
-- wavefronts: in one of them a bank gives one word, so four banks give one chunk.
local function load_of(place, column)
    local at, most = {}, 0
    for row = 0, 7 do
        local p = place(row, column)
        at[p] = (at[p] or 0) + 1
        most = math.max(most, at[p])
    end
    return at, most
end

-- The rows, and below them a cell for each four banks.
local BANKS_TOP = TOP + 8 * HIGH + 24
local function lines_of(x)
    return figure.path("lines", { figure.grid(x, TOP, 8, 8, WIDE, HIGH),
        figure.grid(x, BANKS_TOP, 8, 1, WIDE, HIGH) })
end

local PLAIN, CHOSEN = 34, 190 -- the left edges of both grids

local function chunks_of(x, place)
    local labels = {}
    for row = 0, 7 do
        for chunk = 0, 7 do
            local left = x + (place(row, chunk) + 0.5) * WIDE
            labels[#labels + 1] = text(left, TOP + row * HIGH + 12, "middle", chunk)
        end
    end
    return table.concat(labels)
end

-- The column's chunks marked, and their banks; both also in words.
local function marked(x, place, column)
    local marks, labels, touched = {}, {}, {}
    for row = 0, 7 do
        marks[#marks + 1] = figure.box(x + place(row, column) * WIDE, TOP + row * HIGH, WIDE, HIGH)
    end
    local at, most = load_of(place, column)
    for p = 0, 7 do
        local left = x + p * WIDE
        if at[p] then
            marks[#marks + 1] = figure.box(left, BANKS_TOP, WIDE, HIGH)
            touched[#touched + 1] = p
        end
        labels[#labels + 1] = text(left + WIDE / 2, BANKS_TOP + 12, "middle", at[p] or 0)
    end
    local first = touched[1] * BANKS_OF_CHUNK
    local banks = #touched == 8 and "all 32 banks"
        or ("banks %d to %d"):format(first, first + BANKS_OF_CHUNK - 1)
    local svg = figure.path("mark", marks) .. table.concat(labels)
        .. text(x, BANKS_TOP + HIGH + 16, "head", count(most, "wavefront"))
        .. text(x, BANKS_TOP + HIGH + 30, "", "in " .. banks)
    return svg, banks .. ": " .. count(most, "wavefront")
end

local function draw(v)
    local place = v.swizzle and swizzled_place or plain_place
    local left, left_words = marked(PLAIN, plain_place, v.column)
    local right, right_words = marked(CHOSEN, place, v.column)
    local words = figure.prose [[
        Chunk %d of each row, on the left: %s. On the right: %s.]]
    words = words:format(v.column, left_words, right_words)
    local title = v.swizzle and "Place: chunk ^ row % 8" or "Place: chunk"
    return left .. right .. chunks_of(CHOSEN, place) .. text(CHOSEN, 12, "head", title), words
end

local base = text(PLAIN, 12, "head", "Place: chunk") .. chunks_of(PLAIN, plain_place)
for _, x in ipairs { PLAIN, CHOSEN } do
    base = base .. lines_of(x) .. text(x, BANKS_TOP - 6, "soft", "chunks per four banks")
        .. text(x + 0.5 * WIDE, TOP - 5, "middle soft", 0)
        .. text(x + 4 * WIDE, TOP - 5, "middle soft", "place")
        .. text(x + 7.5 * WIDE, TOP - 5, "middle soft", 7)
end
for row = 0, 7 do
    local label = row == 0 and "row 0" or row
    base = base .. text(PLAIN - 4, TOP + row * HIGH + 12, "end soft", label)
end

return {
    alt = figure.prose [[
        Two grids of eight rows of eight chunks in shared memory, on the left in their order, on
        the right swizzled. The same chunk of each row is marked. Below: how many of them lie in
        each four banks, and the wavefronts that they take.]],
    try = figure.prose [[
        Choose another chunk: with the swizzle the eight always lie in eight places.]],
    width = 340, height = BANKS_TOP + HIGH + 36,
    controls = {
        { name = "column", label = "Chunk that is read", start = 3,
            values = { 0, 1, 2, 3, 4, 5, 6, 7 }, shown = function(n) return "chunk " .. n end },
        { name = "swizzle", label = "Swizzle", kind = "switch", values = { false, true },
            start = 2 },
    },
    base = base,
    draw = draw,
}

-- The addresses of a warp's request, its sectors in global memory and its wavefronts in shared
-- memory.
local text, count, number, path = figure.text, figure.count, figure.number, figure.path
local LANES, BANKS, WORD, SECTOR = 32, 32, 4, 32
local ROW = BANKS * WORD -- a row of the drawing is a word of each bank
local LEFT, TOP, WIDE, HIGH, BARS = 35, 36, 9.5, 6, 300 -- BARS: on this line they stand
-- In these groups a word of memory, and a wavefront of a bank, is one unit long.
local UNITS = '<g transform="translate(%g %g) scale(%g %g)">'
local WORDS = UNITS:format(LEFT, TOP + HIGH / 2, WIDE, HIGH)
local BY_BANK = UNITS:format(LEFT + WIDE / 2, BARS, WIDE, 1)

-- The first byte that a lane wants.
local function byte_of(lane, v) return (v.start + lane * v.stride) * v.size end

-- Each element is as long as it is aligned, so it lies in one sector.
local function sectors_of(v)
    local seen, list = {}, {}
    for lane = 0, LANES - 1 do
        local sector = byte_of(lane, v) // SECTOR
        if not seen[sector] then list[#list + 1] = sector end
        seen[sector] = true
    end
    return list
end

-- In a wavefront each bank gives one word. With 8 bytes a lane half a warp goes at a time, with 16
-- a quarter; a load whose lanes want one address takes twice as many lanes at a time
-- (common/cpu/instruments/count/request.c).
local function lanes_at_a_time(v)
    local lanes = LANES * WORD // v.size
    return v.stride == 0 and math.min(LANES, 2 * lanes) or lanes
end

-- The wavefronts, and in how many of them each bank takes part.
local function wavefronts_of(v)
    local total, by_bank = 0, {}
    for first = 0, LANES - 1, lanes_at_a_time(v) do
        local seen, words, most = {}, {}, 0
        for lane = first, first + lanes_at_a_time(v) - 1 do
            for i = 0, v.size // WORD - 1 do
                local word = byte_of(lane, v) // WORD + i
                local bank = word % BANKS
                if not seen[word] then
                    words[bank] = (words[bank] or 0) + 1
                    by_bank[bank] = (by_bank[bank] or 0) + 1
                    most = math.max(most, words[bank])
                end
                seen[word] = true
            end
        end
        total = total + most
    end
    return total, by_bank
end

local function draw(v)
    -- Rows that no lane touches are left out, so 32 are enough.
    local place, rows = {}, {}
    local function row_of(byte)
        local row = byte // ROW
        if not place[row] then
            place[row] = #rows
            rows[#rows + 1] = row
        end
        return place[row]
    end
    local wanted, sectors = { {}, {} }, {}
    for lane = 0, LANES - 1 do
        local byte = byte_of(lane, v)
        local part = wanted[1 + lane // lanes_at_a_time(v) % 2]
        part[#part + 1] = figure.across(byte % ROW // WORD, row_of(byte), v.size // WORD)
        if v.stride == 0 then break end
    end
    local touched = sectors_of(v)
    for i, sector in ipairs(touched) do
        local byte = sector * SECTOR
        sectors[i] = figure.across(byte % ROW // WORD, row_of(byte), 8)
    end
    local total, by_bank = wavefronts_of(v)
    local bars = {}
    for bank = 0, BANKS - 1 do
        if by_bank[bank] then bars[#bars + 1] = figure.down(bank, 0, -by_bank[bank]) end
    end
    local function first_byte(i)
        return text(LEFT - 4, TOP + i * HIGH + 6, "end soft", number(rows[i + 1] * ROW))
    end
    local costs = count(#touched, "sector") .. " · " .. count(total, "wavefront")
    local svg = WORDS .. path("sector", sectors) .. path("word", wanted[1])
        .. path("word other", wanted[2]) .. "</g>" .. BY_BANK .. path("word", bars) .. "</g>"
        .. first_byte(0) .. (#rows > 2 and first_byte(#rows - 1) or "")
        .. text(LEFT, BARS + 16, "head", costs)
    local last = byte_of(LANES - 1, v)
    local bytes = (v.stride == 0 and 1 or LANES) * v.size
    local words = figure.prose [[
        Lane 0 wants bytes %s to %s, lane 31 bytes %s to %s. From global memory: 1 request, %s, %s
        bytes for the %s that the warp wants. From shared memory: 1 request, %s.]]
    words = words:format(number(byte_of(0, v)), number(byte_of(0, v) + v.size - 1), number(last),
        number(last + v.size - 1), count(#touched, "sector"), number(#touched * SECTOR),
        number(bytes), count(total, "wavefront"))
    if lanes_at_a_time(v) < LANES then
        words = words .. string.format(" It serves %d lanes at a time.", lanes_at_a_time(v))
    end
    return svg, words
end

local heads = text(LEFT, 12, "head", "Words in memory. Left: first byte. Above: bank.")
for _, bank in ipairs { 0, 8, 16, 24, 31 } do
    heads = heads .. text(LEFT + (bank + 0.5) * WIDE, TOP - 5, "middle soft", bank)
end
heads = heads .. text(LEFT - 4, TOP - 5, "end soft", "bank")
local LEGEND = TOP + 32 * HIGH + 14
local function swatch(class, x)
    return path(class .. " swatch", { figure.across(x, LEGEND - 3, 8) })
end
heads = heads .. swatch("word", LEFT) .. swatch("word other", LEFT + 10)
    .. text(LEFT + 22, LEGEND, "soft", "a lane wants it")
    .. swatch("sector", LEFT + 128) .. text(LEFT + 140, LEGEND, "soft", "comes with its sector")
    .. text(LEFT, LEGEND + 15, "soft", "Wavefronts in which the bank gives a word:")
    .. text(LEFT - 4, BARS - 26, "end soft", 32) .. text(LEFT - 4, BARS, "end soft", 0)

return {
    alt = figure.prose [[
        A grid of words in memory, 32 in a row: a column is a bank of shared memory, a quarter
        of a row a sector of global memory. Marked are the words that the lanes of a warp want,
        and the rest of their sectors. Bars below show in how many wavefronts each bank takes
        part.]],
    try = figure.prose [[
        Begin at a stride of 1 and go up. When does the warp touch 32 sectors, and when does it
        need 32 wavefronts? Compare strides 31, 32 and 33: the sectors are 32 each time, the
        wavefronts are not. Then set the stride to 1: start 0 takes 4 sectors, start 1 takes 5, and
        the wavefronts stay 1. With start 0 and 16 bytes per element the warp takes 16 sectors and
        4 wavefronts: four times as many, for four times the bytes.]],
    width = 340, height = BARS + 22,
    controls = {
        { name = "stride", label = "Stride, in elements", start = 3,
            values = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 31, 32, 33 } },
        { name = "size", label = "Size of an element", start = 1, values = { 4, 8, 16 },
            shown = function(n) return n .. " bytes" end },
        { name = "start", label = "Start, in elements", start = 1, values = { 0, 1, 2, 4, 8 } },
    },
    base = heads,
    over = path("lines", { figure.grid(LEFT, TOP, BANKS, 32, WIDE, HIGH),
            figure.across(LEFT, BARS, BANKS * WIDE) })
        .. path("rules", { figure.grid(LEFT, TOP, 4, 1, 8 * WIDE, 32 * HIGH) }),
    draw = draw,
}

-- Which lane of a warp has which elements of the operands of mma.sync.m16n8k16, and in which
-- register.
local text = figure.text
local WIDE, HIGH = 12.8, 12 -- of a cell
local LEFT, TOP = 14, 26

-- A lane is 4 g + t (PTX ISA, mma.m16n8k16). Each function gives the lane and the register of an
-- element.
local function place_in_a(row, column)
    return row % 8 * 4 + column % 8 // 2, row // 8 + column // 8 * 2
end

local function place_in_b(row, column)
    return column * 4 + row % 8 // 2, row // 8
end

local function place_in_c(row, column)
    return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2
end

-- As they are multiplied: B above C, A beside it.
local RIGHT, BELOW = LEFT + 16 * WIDE + 17, TOP + 16 * HIGH + 28
local matrices = {
    { name = "a", title = "A, 16 × 16 halves", columns = 16, x = LEFT, y = BELOW },
    { name = "b", title = "B, 16 × 8 halves", columns = 8, x = RIGHT, y = TOP },
    { name = "c", title = "C, 16 × 8 floats", columns = 8, x = RIGHT, y = BELOW },
}
matrices[1].place, matrices[2].place, matrices[3].place = place_in_a, place_in_b, place_in_c

local function each_cell(m, with)
    for row = 0, 15 do
        for column = 0, m.columns - 1 do
            local lane, register = m.place(row, column)
            with(m.x + column * WIDE, m.y + row * HIGH, lane, register, row, column)
        end
    end
end

local function cell_text(x, y, class, what)
    return text(x + WIDE / 2, y + HIGH - 2.4, class, what)
end

local base, shaded = {}, {}
for _, m in ipairs(matrices) do
    base[#base + 1] = figure.path("lines", { figure.grid(m.x, m.y, m.columns, 16, WIDE, HIGH) })
        .. text(m.x, m.y - 14, "head", m.title)
    -- Neighbours of one lane are shaded alike, for two numbers of two digits nearly touch.
    each_cell(m, function(x, y, lane, _, _, column)
        if (m.name == "b" and column or lane) % 2 == 1 then
            shaded[#shaded + 1] = figure.box(x, y, WIDE, HIGH)
        end
    end)
    each_cell(m, function(x, y, lane)
        base[#base + 1] = cell_text(x, y, "cell middle soft", lane)
    end)
    for i = 0, 8, 8 do
        base[#base + 1] = text(m.x - 3, m.y + (i + 1) * HIGH - 2.4, "end soft", i)
        if i < m.columns then
            base[#base + 1] = text(m.x + (i + 0.5) * WIDE, m.y - 3, "middle soft", i)
        end
    end
end

-- "1", "1 and 9"
local function listed(set)
    local list = {}
    for i = 0, 15 do if set[i] then list[#list + 1] = i end end
    local last = table.remove(list)
    return #list == 0 and tostring(last) or table.concat(list, ", ") .. " and " .. last
end

local function draw(v)
    local cells, labels, has = {}, {}, {}
    for _, m in ipairs(matrices) do
        local rows, columns = {}, {}
        each_cell(m, function(x, y, lane, register, row, column)
            if lane ~= v.lane then return end
            cells[#cells + 1] = figure.box(x, y, WIDE, HIGH)
            labels[#labels + 1] = cell_text(x, y, "middle", m.name .. register)
            rows[row], columns[column] = true, true
        end)
        has[m.name] = { rows = listed(rows), columns = listed(columns) }
    end
    local g, t = v.lane // 4, v.lane % 4
    local function told(i, what)
        return text(LEFT, TOP + 26 + i * 15, i == 0 and "head" or "", what)
    end
    local svg = figure.path("under", cells) .. figure.path("mark", cells) .. table.concat(labels)
        .. told(0, "Lane " .. v.lane)
        .. told(1, ("g = %d / 4 = %d, t = %d %% 4 = %d"):format(v.lane, g, v.lane, t))
        .. told(3, "a0 to a3: two halves each") .. told(4, "b0, b1: two halves each")
        .. told(5, "c0 to c3: one float each")
    local words = figure.prose [[
        Lane %d has g = %d and t = %d. Of A it has rows %s at columns %s, in 4 registers of two
        halves. Of B it has column %s at rows %s, in 2 registers. Of C it has rows %s at columns
        %s, in 4 registers of one float.]]
    words = words:format(v.lane, g, t, has.a.rows, has.a.columns, has.b.columns, has.b.rows,
        has.c.rows, has.c.columns)
    return svg, words
end

local lanes = {}
for lane = 0, 31 do lanes[lane + 1] = lane end
return {
    alt = figure.prose [[
        Three matrices as they are multiplied: A below on the left, B above on the right, C
        below it. Each element has the number of the lane that has it. The elements of one lane
        are marked, and numbered by register.]],
    try = figure.prose [[
        Move the lane from 4 to 7: these four, a quad, share two rows of C.]],
    width = 340, height = BELOW + 16 * HIGH + 4,
    controls = { { name = "lane", label = "Lane", values = lanes, start = 6 } },
    base = figure.path("shade", shaded) .. table.concat(base),
    draw = draw,
}

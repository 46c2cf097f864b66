-- A ring of two stages as in step 28's tma-apart-2, steps/28-flash-tma/e-apart.cuh with STAGES = 2
-- and AHEAD = 1: event by event, the stages and the phases of their barriers.
local text, number = figure.text, figure.number
local STAGES, TILES, THREADS = 2, 5, 128
local HALF = 96 * 64 * 2 -- bytes of a tile of K, or of V: 96 keys, D = 64
local ACTORS = { "thread 0", "TMA", "warps" }

-- Barriers ----------------------------------------------------------------------------------------
-- A phase completes when all have arrived and all announced bytes are there. Then the next one
-- begins.
local function barrier(name, arrivals)
    return { name = name, of = arrivals, phase = 0, arrivals = arrivals, bytes = 0 }
end

local function counted(b, arrivals, bytes)
    b.arrivals, b.bytes = b.arrivals - arrivals, b.bytes + bytes
    if b.arrivals == 0 and b.bytes == 0 then b.phase, b.arrivals = b.phase + 1, b.of end
end

-- A wait for a parity passes if the last phase that is complete has it. Before the first phase that
-- is parity 1.
local function passes(b, parity) return (b.phase + 1) % 2 == parity end

-- Events ------------------------------------------------------------------------------------------
-- Each with its actor, its heading, and the words; the stages and barriers as they are after it.
local function all_events()
    local full, free, stages, events = {}, {}, {}, {}
    for s = 0, STAGES - 1 do
        full[s], free[s] = barrier("full " .. s, 1), barrier("free " .. s, THREADS)
        stages[s] = "empty"
    end
    local function copy_of(b)
        local c = {}
        for key, value in pairs(b) do c[key] = value end
        return c
    end
    local function event(actor, head, words, ...)
        local e = { actor = actor, head = head, words = figure.prose(words):format(...) }
        e.stages, e.full, e.free = {}, {}, {}
        for s = 0, STAGES - 1 do
            e.stages[s], e.full[s], e.free[s] = stages[s], copy_of(full[s]), copy_of(free[s])
        end
        events[#events + 1] = e
    end
    local function set(s, tile, how) stages[s] = "tile " .. tile .. ": " .. how end
    local function requested(tile, before)
        local s = tile % STAGES
        counted(full[s], 1, 2 * HALF)
        set(s, tile, "requested")
        event(1, "requests tile " .. tile, before .. [[It arrives at full %d and announces %s bytes
            in one instruction, then starts the copies into stage %d.]], s, number(2 * HALF), s)
    end
    local function arrived(tile)
        local s = tile % STAGES
        counted(full[s], 0, -HALF)
        set(s, tile, "K is there")
        event(2, "has copied K of tile " .. tile, [[It takes %s bytes off full %d. As many are still
            to come.]], number(HALF), s)
        counted(full[s], 0, -HALF)
        set(s, tile, "both are there")
        event(2, "has copied V of tile " .. tile, [[No arrival and no byte is missing, so phase
            %d of full %d completes, and phase %d begins.]], full[s].phase - 1, s, full[s].phase)
    end
    event(1, "initialises the barriers", [[A phase of full takes 1 arrival, that of thread 0; a
        phase of free takes one of each of the %d threads. A wait for parity 1 passes at all of
        them, though no phase is complete.]], THREADS)
    requested(0, "")
    arrived(0)
    for tile = 0, TILES - 1 do
        local next, s = tile + 1, (tile + 1) % STAGES
        local parity = next // STAGES % 2 ~ 1
        local wait = "waits at free " .. s .. " for parity " .. parity
        if tile > 0 then -- with two stages the next tile's stage is the previous tile's
            counted(free[s], THREADS // 2, 0)
            set(s, tile - 1, "2 of 4 warps done")
            event(3, "0 and 1 have read tile " .. tile - 1, [[Their %d threads arrive at free %d.
                That does not make them wait.]], THREADS // 2, s)
            if next < TILES then
                assert(not passes(free[s], parity))
                event(1, wait, [[Phase %d has this parity, and is not complete: thread 0 has to
                    wait.]], free[s].phase)
            end
            counted(free[s], THREADS // 2, 0)
            set(s, tile - 1, "4 of 4 warps done")
            event(3, "2 and 3 have read tile " .. tile - 1, [[The last of their threads arrives:
                phase %d of free %d completes. Stage %d may be filled.]], free[s].phase - 1, s, s)
        elseif next < TILES then
            event(1, wait, [[No phase is complete, and yet parity 1 passes at once. That is right:
                nobody has to read this stage before it is filled.]])
        end
        if next < TILES then
            assert(passes(free[s], parity))
            requested(next, tile > 0 and "Its wait has passed. " or "")
        end
        s, parity = tile % STAGES, tile // STAGES % 2
        assert(passes(full[s], parity))
        set(s, tile, "being read")
        event(3, "wait at full " .. s .. " for parity " .. parity, [[Phase %d is complete, so they
            pass, and read tile %d in stage %d.]], full[s].phase - 1, tile, s)
        if next < TILES then arrived(next) end
    end
    return events
end

local events = all_events()

-- Drawing -----------------------------------------------------------------------------------------
-- Of the timeline: its begin and length, its first line, and from one to the next.
local LEFT, LENGTH, FIRST, LANE = 60, 276, 14, 16
local PANEL, PANEL_TOP, PANEL_WIDE = { [0] = 2, 174 }, 104, 164

-- Of a stage, by the first word after its tile: nobody needs it, it is being filled, or it is
-- needed.
local CLASS = {
    empty = "box", ["4"] = "box", requested = "warm", K = "warm",
    both = "mark", being = "mark", ["2"] = "mark",
}

local function event_at(n) return LEFT + (n - 0.5) * LENGTH / #events end
local function line_of(actor) return FIRST + (actor - 1) * LANE end
local function name_of(actor) return (ACTORS[actor]:gsub("^[tw]", string.upper)) end

local function told(b, x, y)
    local below = b.of == 1 and y + 41 or y + 28 -- no bytes come to free
    local function wait(at, parity)
        local passing = passes(b, parity)
        return text(at, below, passing and "" or "waits",
            ("wait(%d) %s"):format(parity, passing and "passes" or "waits"))
    end
    return text(x, y, "head", b.name)
        .. text(x + 44, y, "", "phase ", b.phase, ", parity ", b.phase % 2)
        .. text(x, y + 14, "soft", "arrivals missing: ", b.arrivals)
        .. (b.of == 1 and text(x, y + 27, "soft", "bytes missing: ", number(b.bytes)) or "")
        .. wait(x, 0) .. wait(x + 80, 1)
end

local function draw(v)
    local e = events[v.event]
    local x = event_at(v.event)
    local svg = { figure.path("rules", { figure.down(x, FIRST - 8, 3 * LANE) }),
        figure.circle("now", x, line_of(e.actor), 4.5),
        text(2, 76, "head", v.event, ". ", name_of(e.actor), " ", e.head) }
    for s = 0, STAGES - 1 do
        local class = CLASS[e.stages[s]:match(": (%S+)") or "empty"]
        local left = PANEL[s] + 5
        svg[#svg + 1] = figure.path(class, { figure.box(PANEL[s], PANEL_TOP, PANEL_WIDE, 20) })
            .. text(left, PANEL_TOP + 14, "", e.stages[s])
            .. told(e.full[s], left, PANEL_TOP + 40) .. told(e.free[s], left, PANEL_TOP + 104)
    end
    local words = string.format("Event %d of %d. %s %s. %s", v.event, #events, name_of(e.actor),
        e.head, e.words)
    return table.concat(svg), words
end

local base = {}
for i, actor in ipairs(ACTORS) do
    base[#base + 1] = text(LEFT - 6, line_of(i) + 4, "end", actor)
        .. figure.path("lines", { figure.across(LEFT, line_of(i), LENGTH) })
end
for n, e in ipairs(events) do
    base[#base + 1] = figure.circle("event", event_at(n), line_of(e.actor), 2.6)
end
for s = 0, STAGES - 1 do
    base[#base + 1] = text(PANEL[s], PANEL_TOP - 6, "head", "Stage ", s)
        .. figure.path("lines", { figure.box(PANEL[s], PANEL_TOP + 20, PANEL_WIDE, 133),
            figure.across(PANEL[s], PANEL_TOP + 88, PANEL_WIDE) })
end

local numbers = {}
for n in ipairs(events) do numbers[n] = n end
return {
    alt = figure.prose [[
        Above, events in time, in a line each for thread 0, TMA and the warps. Below, two
        stages, each with its contents and with the barriers full and free: the phase, its
        parity, the arrivals and bytes that are missing, and if a wait would pass.]],
    try = figure.prose [[
        Step forward, and say before each wait which parity passes. At the first wait for free 1
        nothing is complete, and yet parity 1 passes. What would thread 0 do there with parity 0,
        and how many arrivals would phase 0 of free 1 miss?]],
    width = 340, height = PANEL_TOP + 156,
    controls = {
        { name = "event", label = "Event", values = numbers, start = 1, still = 11,
            back = "Back", forward = "Forward",
            shown = function(n) return n .. " of " .. #numbers end },
    },
    base = table.concat(base),
    draw = draw,
}

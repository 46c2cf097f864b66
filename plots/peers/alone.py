"""alone.py: the clocks sustained and cool of common/harness/time/alone.c, for calls of PyTorch.

  sustained  IDLE_S without work, then calls back to back for WARMING_S, which do not count, and for
             TIMED_S, which do, in WINDOWS windows
  cool       IDLE_S without work, then COOL_SAMPLES replays, each waited for

Calls are replays of CUDA graphs, so that Python is never in the way: of one call, or of as many as
take a millisecond. Meanwhile the driver's management library is asked for the clock rate of the
multiprocessors, the power, and whether that holds the clock rate down; it is only read from.
"""
import ctypes
import dataclasses
import math
import time

import peers

IDLE_S, WARMING_S, TIMED_S = 0.5, 0.35, 0.35
WINDOWS, COOL_SAMPLES = 10, 20
LOOK_S = 0.01  # between two readings
WAIT_CYCLES = 200000  # of one thread, while a launch and two events are enqueued

SM, POWER_INSTANT, POWER_CAP = 1, 186, 4  # numbers of nvml.h


class FieldValue(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("timestamp", ctypes.c_longlong),
                ("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("error", ctypes.c_int),
                ("value", ctypes.c_ulonglong)]


@dataclasses.dataclass
class Place:
    """What one repetition of one call gave."""

    samples: list  # microseconds
    readings: list  # (MHz, W, held down)


class Rates:
    """Reads the device's clock rate and power, where the driver tells them."""

    def __init__(self, torch):
        self.device, self.library = ctypes.c_void_p(), None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            at = torch.cuda.get_device_properties(torch.cuda.current_device())
            bus = f"{at.pci_domain_id:08x}:{at.pci_bus_id:02x}:{at.pci_device_id:02x}.0"
            if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByPciBusId_v2(
                    bus.encode(), ctypes.byref(self.device)):
                raise OSError(f"libnvidia-ml.so.1 does not answer for device {bus}")
            self.library = library
        except (OSError, AttributeError) as error:
            print(f"  no clock rates and no power: {error}")

    def power(self):
        """Of this moment; without that, which older devices do not say, the mean of a second."""
        value = FieldValue(id=POWER_INSTANT)
        if not self.library.nvmlDeviceGetFieldValues(
                self.device, 1, ctypes.byref(value)) and not value.error:
            return (value.value & 0xffffffff) * 1e-3
        milliwatts = ctypes.c_uint()
        self.library.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(milliwatts))
        return milliwatts.value * 1e-3

    def read(self):
        mhz, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
        self.library.nvmlDeviceGetClockInfo(self.device, SM, ctypes.byref(mhz))
        self.library.nvmlDeviceGetCurrentClocksThrottleReasons(self.device, ctypes.byref(reasons))
        return mhz.value, self.power(), bool(reasons.value & POWER_CAP)


class Alone:
    """One call, with its graphs."""

    def __init__(self, torch, stream, call, rates):
        self.torch, self.stream, self.rates, self.seen = torch, stream, rates, []
        self.graph, self.calls = peers.captured(call, 1), 1
        once = min(self.timed() for _ in range(3))
        self.calls = min(peers.MOST_CALLS, max(1, math.ceil(peers.SAMPLE_US / once)))
        if self.calls > 1:
            self.graph = peers.captured(call, self.calls)
        self.once = self.timed()

    def event(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record(self.stream)
        return event

    def timed(self):
        """Microseconds of a call. The device waits a little first, so that the events follow on."""
        self.torch.cuda._sleep(WAIT_CYCLES)
        before = self.event()
        self.graph.replay()
        after = self.event()
        self.look()
        after.synchronize()
        return before.elapsed_time(after) * 1e3 / self.calls

    def look(self):
        now = time.perf_counter()
        if self.rates.library and (not self.seen or now - self.seen[-1][0] >= LOOK_S):
            self.seen.append((now, self.rates.read()))

    def idle(self):
        self.stream.synchronize()
        time.sleep(IDLE_S)
        self.seen = []

    def cool(self):
        self.idle()
        samples = [self.timed() for _ in range(COOL_SAMPLES)]
        return Place(samples, [reading for _, reading in self.seen])

    def sustained(self):
        """The readings before the half that counts are dropped, as the calls are."""
        self.idle()
        us = self.once * self.calls
        for _ in range(math.ceil(WARMING_S * 1e6 / us)):
            self.graph.replay()
        replays = math.ceil(TIMED_S * 1e6 / WINDOWS / us)
        events = [self.event()]
        for _ in range(WINDOWS):
            for _ in range(replays):
                self.graph.replay()
            events.append(self.event())
            self.look()
        while not events[-1].query():
            self.look()
            time.sleep(0.001)
        start = time.perf_counter() - events[0].elapsed_time(events[-1]) * 1e-3
        samples = [before.elapsed_time(after) * 1e3 / (replays * self.calls)
                   for before, after in zip(events, events[1:])]
        return Place(samples, [reading for at, reading in self.seen if at >= start])


def in_repetitions(lanes, clock, repetitions):
    """Places of each lane, by name, in an order that favours none: A B, then B A."""
    places = {name: [] for name in lanes}
    for repetition in range(repetitions):
        for name in list(lanes)[::-1] if repetition % 2 else lanes:
            places[name].append(getattr(lanes[name], clock)())
    return places


def cells(places, clock):
    """The columns mhz, watts and capped_pct: medians, and in how many of all readings. The power
    that the driver tells is up to a tenth of a second old: longer than a cool place takes."""
    readings = [reading for place in places for reading in place.readings]
    if not readings:
        return ["-"] * 3
    middle = [sorted(column)[len(readings) // 2] for column in zip(*(r[:2] for r in readings))]
    held = 100.0 * sum(reading[2] for reading in readings) / len(readings)
    found = [f"{cell:.6g}" for cell in (*middle, held)]
    return found if clock == "sustained" else [found[0], "-", found[2]]

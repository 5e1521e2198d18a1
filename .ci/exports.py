"""What the readers of other programs find in the exports of a recording: all of them tell the same.

usage: exports.py RECORDING FOLDER PROFILE_DESCRIPTOR EVENTS

FOLDER has the exports x.json, x.folded, x.waiting, x.pb.gz, x.pftrace, and what babeltrace2 says of
x.ctf: ctf.txt and ctf.log. EVENTS is how many events of x.ctf the export has told.
"""

import collections
import datetime
import gzip
import json
import os
import re
import sys
import zlib

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CALLS = 4
CLEARED, NEEDED = 1, 2
REALTIME, INCREMENTAL = 1, 64


def check(holds, *words):
    if not holds:
        sys.exit("exports: " + " ".join(str(word) for word in words))


def same(what, one, other):
    check(one == other, f"{what}: {str(one)[:400]} is not {str(other)[:400]}")


def ns(micros):
    return round(micros * 1000)


def unix_ns(instant):
    """Of 2026-11-20T17:04:31.000001Z, whose fraction may have nine digits."""
    second, _, fraction = instant.rstrip("Z").partition(".")
    second = datetime.datetime.fromisoformat(second + "+00:00")
    return int(second.timestamp()) * 10**9 + int(fraction.ljust(9, "0"))


class Chrome:
    """What the trace events in JSON say: the others are compared with it."""

    def __init__(self, path):
        with open(path) as file:
            trace = json.load(file)
        events = trace["traceEvents"]
        self.begin = unix_ns(trace["otherData"]["time 0"])
        of = collections.defaultdict(list)
        for event in events:
            of[event["ph"]].append(event)
        slices = of["X"]
        self.calls, self.lost_calls = nested(events)
        self.polls = [event for event in slices if event["cat"] == "poll"]
        self.gaps = [event for event in slices if event["cat"] == "lost"]
        instants = of["i"]
        self.marks = [event for event in instants if event["cat"] == "mark"]
        self.events = [event for event in instants if event["cat"] == "event"]
        self.lost_events = [event for event in instants if event["cat"] == "lost"]
        self.spans = of["b"]
        self.counters = of["C"]
        self.flows = len(of["s"])
        same("ends of spans", len(of["e"]), len(self.spans))
        same("ends of arrows", len(of["f"]), self.flows)
        check(self.polls, "there are no polls")

    def times(self):
        """Thread, begin and end of each poll, in nanoseconds since 1970."""
        return sorted((poll["tid"] - 1, begin, begin + ns(poll["dur"])) for poll in self.polls
                      for begin in [self.begin + ns(poll["ts"])])

    def lost(self):
        polls = sum(event["args"]["polls"] for event in self.gaps)
        return polls + sum(event["args"]["events"] for event in self.lost_events)


def nested(events):
    """Polls of calls of each row, and their losses: they nest, and no poll is in a loss."""
    opened, until, found, losses = collections.defaultdict(list), {}, [], []
    for event in events:
        kind, row = event["ph"], event.get("tid")
        is_loss = kind == "X" and event["cat"] == "lost calls"
        if kind not in "BE" and not is_loss:
            continue
        at = ns(event["ts"])
        check(at >= until.get(row, 0), "an end of a call's poll is after what follows:", event)
        until[row] = at
        if kind == "B":
            opened[row].append((event["name"], at))
        elif kind == "E":
            check(opened[row], "a poll of a call ends that has not begun:", event)
            name, begin = opened[row].pop()
            args = event["args"]
            found.append((row & ~(1 << 30), len(opened[row]), name, begin, at - begin,
                          args["outcome"], args.get("waits_at")))
        else:
            check(not opened[row], "a poll of a call is open in a loss:", event)
            until[row] = at + ns(event["dur"])
            losses.append((row & ~(1 << 30), event["name"], at, ns(event["dur"])))
    check(not any(opened.values()), "polls of calls do not end")
    return found, losses


def folded(path):
    stacks = {}
    with open(path) as file:
        for line in file:
            stack, number = line.rstrip("\n").rsplit(" ", 1)
            stacks[stack] = int(number)
    return stacks


def profile_class(path):
    """The message of the official profile.proto."""
    with open(path, "rb") as file:
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def no_unknown(message):
    """Each field is one of the official protocol."""
    before = message.ByteSize()
    message.DiscardUnknownFields()
    same(f"bytes of known fields in {message.DESCRIPTOR.full_name}", message.ByteSize(), before)
    return message


def pprof(folder, descriptor, chrome):
    with gzip.open(f"{folder}/x.pb.gz") as file:
        profile = no_unknown(profile_class(descriptor).FromString(file.read()))
    texts = profile.string_table
    same("the first text", texts[0], "")
    types = [(texts[kind.type], texts[kind.unit]) for kind in profile.sample_type]
    same("names of the types", [name for name, _ in types], ["polls", "running", "ready", "waiting"])
    functions = {function.id: function for function in profile.function}
    locations = {location.id: location for location in profile.location}
    mappings = {mapping.id for mapping in profile.mapping}
    check(0 not in functions and 0 not in locations, "a number is 0")
    same("functions", len(functions), len(profile.function))
    same("locations", len(locations), len(profile.location))
    stacks = [collections.Counter() for _ in types]
    for sample in profile.sample:
        same("values of a sample", len(sample.value), len(types))
        frames = []
        for number in reversed(sample.location_id):
            location = locations[number]
            check(location.mapping_id in mappings, "a mapping is missing")
            frames += [texts[functions[line.function_id].name] for line in location.line]
        stack = ";".join(frame.replace(";", ",") for frame in frames)
        for sums, value in zip(stacks, sample.value):
            if value > 0:
                sums[stack] += value
    polls, running, ready, waiting = stacks
    same("polls of the profile", sum(polls.values()), len(chrome.polls))
    same("running", dict(running), folded(f"{folder}/x.folded"))
    same("waiting", dict(waiting), folded(f"{folder}/x.waiting"))
    same("running in all", sum(running.values()), sum(ns(poll["dur"]) for poll in chrome.polls))
    # A wake before the end of the poll before counts from that end on.
    most = sum(poll["args"].get("ready_ns", 0) for poll in chrome.polls)
    check(sum(ready.values()) <= most, "more time ready than there was")
    print(f"pprof: {len(profile.sample)} stacks; each has the time of the folded ones")


def ctf(folder, chrome, told):
    events = collections.Counter()
    begins, polls = {}, []
    with open(f"{folder}/ctf.txt") as file:
        for line in file:
            event = re.match(r"\[(\d+)\] \(.*?\) .*?:\(\d+\) (.*?): \{( thread = (\d+),)?", line)
            check(event, "not an event:", line)
            at, name, thread = int(event[1]), event[2], event[4]
            events[name] += 1
            # A thread polls one task at a time.
            if name == "poll_begin":
                check(thread not in begins, "a poll begins within another one:", line)
                begins[thread] = at
            elif name == "poll_end":
                check(thread in begins, "a poll ends that has not begun:", line)
                polls.append((int(thread), begins.pop(thread), at))
    same("times of polls", sorted(polls), chrome.times())
    with open(f"{folder}/ctf.log") as file:
        log = file.read()
    lost = sum(int(number) for number in re.findall(r"Tracer discarded (\d+) event", log))
    check("ERROR" not in log, log)
    same("losses", lost, chrome.lost())
    same("begins of polls", events.pop("poll_begin"), len(chrome.polls))
    same("ends of polls", events.pop("poll_end"), len(chrome.polls))
    ready = [poll for poll in chrome.polls if "ready_ns" in poll["args"]]
    same("wakes", events.pop("ready", 0), len(ready))
    for name, category in [("wait", "wait"), ("gave_up", "gave up"), ("hold", "hold")]:
        spans = [span for span in chrome.spans if span["cat"] == category]
        same(name, events.pop(name, 0), len(spans))
    same("marks", events.pop("mark", 0), len(chrome.marks))
    same("numbers of tasks", events.pop("tasks", 0), len(chrome.counters))
    tasks = events.pop("task", 0)
    check(tasks > 0, "no task has a name")
    same("own events", dict(events), dict(collections.Counter(e["name"] for e in chrome.events)))
    same("events", told, tasks + 2 * len(chrome.polls) + len(ready) + len(chrome.spans)
         + len(chrome.marks) + len(chrome.counters) + len(chrome.events))
    print(f"CTF: {told} events, {lost} of them told as lost")


class Sequence:
    """What a sequence of packets has defined so far."""

    def __init__(self):
        self.iids = collections.defaultdict(dict)
        self.clock = None
        self.default = None

    def define(self, data):
        for field, values in data.ListFields():
            for value in values:
                check(value.iid not in self.iids[field.name], "a number is defined twice")
                text = value.str if field.name.endswith("string_values") else value.name
                self.iids[field.name][value.iid] = text

    def name(self, kind, iid):
        check(iid in self.iids[kind], f"number {iid} of {kind} is used before it is defined")
        return self.iids[kind][iid]

    def time(self, packet):
        clock = packet.timestamp_clock_id or self.default
        if clock == REALTIME:
            return packet.timestamp
        same("a clock", clock, INCREMENTAL)
        self.clock += packet.timestamp
        return self.clock


def packets(path):
    with open(path, "rb") as file:
        trace = no_unknown(perfetto.Trace.FromString(file.read()))
    unpacked = []
    for packet in trace.packet:
        inner = perfetto.Trace.FromString(zlib.decompress(packet.compressed_packets))
        unpacked += no_unknown(inner).packet
    check(not any(packet.compressed_packets for packet in unpacked), "packed twice")
    return unpacked


def track_events(unpacked):
    """The events of all tracks: time, order in the file, track, kind, category, name, message."""
    tracks, sequences, events = {}, {}, []
    for packet in unpacked:
        number = packet.trusted_packet_sequence_id
        check(number > 0, "a packet has no sequence")
        if packet.sequence_flags & CLEARED:
            sequences[number] = Sequence()
        check(number in sequences, "a sequence does not begin")
        sequence = sequences[number]
        if packet.HasField("trace_packet_defaults"):
            sequence.default = packet.trace_packet_defaults.timestamp_clock_id
        for clock in packet.clock_snapshot.clocks:
            if clock.clock_id == INCREMENTAL:
                check(clock.is_incremental, "the clock is not incremental")
                sequence.clock = clock.timestamp
        if packet.HasField("interned_data"):
            sequence.define(packet.interned_data)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            check(track.uuid not in tracks, "a track is described twice")
            check(track.parent_uuid in tracks or not track.parent_uuid, "a track has no parent")
            tracks[track.uuid] = track
        if packet.HasField("track_event"):
            event = packet.track_event
            check(packet.sequence_flags & NEEDED, "a packet with names needs no state")
            check(event.track_uuid in tracks, "a track is not described")
            name = sequence.name("event_names", event.name_iid) if event.name_iid else None
            category = [sequence.name("event_categories", iid) for iid in event.category_iids]
            for fact in event.debug_annotations:
                sequence.name("debug_annotation_names", fact.name_iid)
                if fact.HasField("string_value_iid"):
                    sequence.name("debug_annotation_string_values", fact.string_value_iid)
            events.append((sequence.time(packet), len(events), event.track_uuid, event.type,
                           category[0] if category else None, name, event))
    return tracks, sorted(events, key=lambda event: event[:2])


def slices(events):
    """The slices of each track: but for those of calls, no two of a track overlap."""
    opened, found = {}, collections.defaultdict(list)
    for at, _, track, kind, category, name, _ in events:
        if track >> 32 == CALLS:
            continue
        if kind == BEGIN:
            check(track not in opened, f"on track {track}, {name} begins within another slice")
            opened[track] = (at, category, name)
        elif kind == END:
            check(track in opened, f"on track {track}, a slice ends that has not begun")
            begin, category, name = opened.pop(track)
            found[category].append((track, begin, at - begin, name))
    check(not opened, "slices do not end:", opened)
    return found


def calls(tracks, events, begin, chrome):
    """Polls of calls nest on each track, and are those of Chrome's."""
    opened, found, losses = collections.defaultdict(list), [], []
    for at, _, track, kind, category, name, event in events:
        if track >> 32 != CALLS:
            continue
        thread = track & 0xffffffff
        same("the parent of a track", tracks[track].parent_uuid, 1 << 32 | thread)
        if kind == BEGIN:
            within = opened[track]
            check(not within or within[-1][0] != "lost calls", "a poll of a call is in a loss")
            within.append((category, name, at))
            continue
        check(opened[track], f"on track {track}, a poll of a call ends that has not begun")
        category, name, start = opened[track].pop()
        # Chrome's times are not below 0.
        start = max(start, begin)
        if category == "lost calls":
            check(not opened[track], "a poll of a call is open in a loss")
            losses.append((thread, name, start - begin, at - start))
        else:
            found.append((thread, len(opened[track]), name, start - begin, at - start))
    check(not any(opened.values()), "polls of calls do not end")
    same("polls of calls", sorted(found), sorted(call[:5] for call in chrome.calls))
    same("losses of calls", sorted(losses), sorted(chrome.lost_calls))
    deepest = max((call[1] for call in found), default=0)
    waiting = sum(call[6] is not None for call in chrome.calls)
    if found:
        check(deepest > 0, "no poll of a call is inside of another one")
        check(waiting > 0, "no call has an await point")
    print(f"calls: {len(found)} polls, {deepest + 1} deep, {waiting} with await points, "
          f"{len(losses)} losses")


def pftrace(unpacked, chrome):
    tracks, events = track_events(unpacked)
    found = slices(events)
    # The times of the others count from the beginning.
    first = min(at for _, at, _, _ in found["poll"])
    begin = first - min(ns(poll["ts"]) for poll in chrome.polls)
    for category, expected in [("poll", chrome.polls), ("lost", chrome.gaps)]:
        mine = [(track & 0xffffffff, at - begin, length, name)
                for track, at, length, name in found[category]]
        theirs = [(event["tid"] - 1, ns(event["ts"]), ns(event["dur"]), event["name"])
                  for event in expected]
        same(f"slices of {category}", sorted(mine), sorted(theirs))
    calls(tracks, events, begin, chrome)
    spans = sum(len(found[category]) for category in ["wait", "gave up", "hold"])
    instants = [event for event in events if event[3] == INSTANT]
    of = collections.Counter(category for _, _, _, _, category, _, _ in instants)
    spans += of["wait"] + of["gave up"] + of["hold"]
    same("waits and holds", spans, len(chrome.spans))
    same("marks", of["mark"], len(chrome.marks))
    same("own events", of["event"], len(chrome.events))
    same("losses of events", of["lost"], len(chrome.lost_events))
    counters = [event[6].counter_value for event in events if event[3] == COUNTER]
    same("counters", counters, [event["args"]["tasks"] for event in chrome.counters])
    starts = {flow: event[0] for event in events for flow in event[6].flow_ids}
    ends = {flow: event[0] for event in events for flow in event[6].terminating_flow_ids}
    same("arrows", (len(starts), starts.keys()), (chrome.flows, ends.keys()))
    # Threads read two clocks each.
    check(all(starts[flow] <= ends[flow] + 4000 for flow in starts), "an arrow leads back in time")
    of_tasks = {uuid for uuid, track in tracks.items() if uuid >> 32 == 3}
    same("tracks with slices of tasks", {track for track, *_ in found["task"]}, of_tasks)
    check(0 < len(of_tasks) <= 50, len(of_tasks), "tasks have tracks")
    running = collections.Counter(tracks[track].name for track, _, _, name in found["task"]
                                  if name == "running")
    of_task = collections.Counter(poll["args"]["task"] for poll in chrome.polls)
    same("polls of tasks", dict(running), {name: of_task[name] for name in running})
    print(f"Perfetto: {len(events)} events of {len(tracks)} tracks, {len(of_tasks)} of tasks")


def sizes(recording, folder, unpacked, polls):
    """Bytes for each poll, as they are and compressed."""
    def read(*names):
        return b"".join(open(name, "rb").read() for name in names)
    trace = [f"{folder}/x.ctf/{name}" for name in sorted(os.listdir(f"{folder}/x.ctf"))]
    plain = b"".join(packet.SerializeToString() for packet in unpacked)
    for what, content in [("recording", read(recording)), ("Chrome", read(f"{folder}/x.json")),
                          ("CTF", read(*trace)), ("Perfetto", read(f"{folder}/x.pftrace")),
                          ("Perfetto, without its own compression", plain)]:
        packed = len(gzip.compress(content, 6))
        print(f"  {what}: {len(content) / polls:.1f} bytes a poll, {packed / polls:.1f} gzipped")


def main():
    recording, folder, descriptor, told = sys.argv[1:]
    chrome = Chrome(f"{folder}/x.json")
    print(f"Chrome: {len(chrome.polls)} polls, {len(chrome.spans)} waits and holds, "
          f"{chrome.flows} arrows")
    pprof(folder, descriptor, chrome)
    ctf(folder, chrome, int(told))
    unpacked = packets(f"{folder}/x.pftrace")
    pftrace(unpacked, chrome)
    sizes(recording, folder, unpacked, len(chrome.polls))


main()

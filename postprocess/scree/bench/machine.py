"""What the numbers of a benchmark were measured on. Bytes and Hz throughout; what the system does not say is missing."""
import json
import os
import subprocess
from pathlib import Path

PROCESSORS = Path("/sys/devices/system/cpu")
CPUINFO = "/proc/cpuinfo"


def n_processors():
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def line_of(path):
    """First line of a file of the system; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""


def cpuinfo():
    """{key: value} of the first processor."""
    entries = {}
    try:
        for line in Path(CPUINFO).read_text(encoding="utf-8").splitlines():
            key, colon, value = line.partition(":")
            if colon:
                entries.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    return entries


def bytes_of(text):
    """Bytes of a size as the kernel writes it: "32K"."""
    factor = {"K": 1024, "M": 1024 * 1024}.get(text[-1], 1)
    return int(text.rstrip("KM")) * factor


def processor():
    """The name of a processor says little in virtual machines; family and model say what it is. Processors of ARM have no name
    here, but an implementer and a part."""
    cpu = cpuinfo()
    name = cpu.get("model name", "")
    if not name and cpu.get("CPU part"):
        name = f"implementer {cpu.get('CPU implementer', '')} part {cpu['CPU part']}"
    found = {"processor": name}
    if cpu.get("vendor_id"):
        found["processor_vendor"] = cpu["vendor_id"]
    for entry, key in (("family", "cpu family"), ("model", "model"), ("stepping", "stepping")):
        if cpu.get(key, "").isdigit():
            found[f"processor_{entry}"] = int(cpu[key])
    return found


def count_topology(*entries):
    """Different values of entries of the topology, over all processors that are online."""
    found = {tuple(line_of(folder / "topology" / entry) for entry in entries) for folder in PROCESSORS.glob("*")}
    return len([values for values in found if any(values)])


def caches():
    found = []
    while size := line_of(PROCESSORS / f"cpu0/cache/index{len(found)}/size"):
        folder = PROCESSORS / f"cpu0/cache/index{len(found)}"
        found.append({"level": int(line_of(folder / "level")), "type": line_of(folder / "type"), "bytes": bytes_of(size),
                      "shared_by_processors": line_of(folder / "shared_cpu_list")})
    return found


def chosen_in(line):
    """The choice in brackets: "always [madvise] never"."""
    before, bracket, after = line.partition("[")
    return after.partition("]")[0] if bracket else before


def describe_machine():
    """Processor (name, vendor, family, model), cores and caches, memory, system and load."""
    machine = processor() | {"processors_online": os.sysconf("SC_NPROCESSORS_ONLN")}
    if cores := count_topology("physical_package_id", "core_id"):
        machine |= {"cores": cores, "sockets": count_topology("physical_package_id")}
    machine |= {"caches": caches(), "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
                "huge_pages": chosen_in(line_of("/sys/kernel/mm/transparent_hugepage/enabled"))}
    if governor := line_of(PROCESSORS / "cpu0/cpufreq/scaling_governor"):
        machine["frequency_governor"] = governor
    system = os.uname()
    return machine | {"system": f"{system.sysname} {system.release}", "load_at_start": round(os.getloadavg()[0], 2)}


def machine_of(program):
    """describe_machine() with what the program scree_bench says of itself and measures on one rank. Throws OSError and
    CalledProcessError; ValueError if it says nothing."""
    process = subprocess.run([program, "--stream", "--machine"], text=True, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    for line in process.stdout.splitlines():
        if line.startswith('{"machine"'):
            return describe_machine() | json.loads(line)["machine"]
    raise ValueError(f"{program} does not describe the machine")


def processor_text(machine):
    """The processor in one line: family and model say what a virtual machine calls "AMD EPYC"."""
    family = ""
    if "processor_family" in machine:
        family = f" (family {machine['processor_family']}, model {machine.get('processor_model', 0)})"
    levels = "".join(f", L{cache['level']} {cache['bytes'] // 1024} KiB" for cache in machine.get("caches", [])
                     if cache["type"] != "Instruction")
    return (f"{machine.get('processor', '?')}{family}, {machine.get('cores', 0)} cores{levels}, "
            f"{machine.get('instruction_set', '?')}")


def measured_text(measured):
    """Speed of memory and messages on one number of ranks."""
    ranks = measured["ranks"]
    text = (f"{ranks} rank{'' if ranks == 1 else 's'}: triad {1e-9 * measured['triad_one_rank']:.1f} GB/s on one, "
            f"{1e-9 * measured['triad_each_rank']:.1f} GB/s on each")
    if "latency_8_B" in measured:
        text += (f"; message of 8 B {1e6 * measured['latency_8_B']:.2f} us, of 1 MiB {1e-9 * measured['bandwidth_1_MiB']:.2f} GB/s; "
                 f"allreduce of 8 B {1e6 * measured['allreduce_8_B']:.2f} us")
    return text + ("; waiting ranks yield their processor\n" if measured.get("waiting_ranks_yield") else "\n")


def format_machine(machine):
    """Some lines for people."""
    def known(name):
        return machine.get(name, "?")

    load = machine.get("load_at_start", 0)
    text = (f"{processor_text(machine)}\n"
            f"{machine.get('processors_online', 0)} processors, {machine.get('memory_bytes', 0) / 2**30:.1f} GiB of memory, "
            f"huge pages {known('huge_pages')}, load {load:.2f}\n"
            f"scree {known('version')} (commit {known('commit')}, {known('compiler')}, {known('build_type')}), {known('system')}\n")
    if load > 0.5:
        text += "other programs are running: what ranks wait for each other will be too long\n"
    return text + "".join(map(measured_text, machine.get("measured", [])))

"""What a process without a manifest pays for the library: builds beside one another.

    python3 bench/process_cost.py NAME=LIB_FOLDER... [--rounds N]

A program loads each build's library, asks for the devices, computes nothing and ends, in turns. A line per build has
the library's size, and of the process the median milliseconds of processors and of the clock from exec to the end, the
memory that it has written, the threads and the descriptors at its end.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <neural_network_runtime/neural_network_runtime.h>

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

int main(void)
{
	const size_t *ids;
	uint32_t count = 0;
	if (OH_NNDevice_GetAllDevicesID(&ids, &count) != OH_NN_SUCCESS || count == 0)
		return 1;
	long kb = 0, n;
	char line[256];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Private_Dirty: %ld", &n) == 1)
			kb += n;
	if (f)
		fclose(f);
	printf("%ld %d %d\n", kb, entries("/proc/self/task"), entries("/proc/self/fd") - 1);
	return 0;
}
"""


def run(program, folder, drivers):
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "ANYNPU_DRIVERS": drivers, "XDG_CONFIG_HOME": drivers,
                   "XDG_CACHE_HOME": drivers}
    begin = time.perf_counter()
    p = subprocess.Popen([program], stdout=subprocess.PIPE, env=environment, text=True)
    out = p.stdout.read()
    _, status, used = os.wait4(p.pid, 0)
    took = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"process_cost: the program ended with {status} beside {folder}")
    return [1e3 * (used.ru_utime + used.ru_stime), 1e3 * took, *map(float, out.split())]


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("builds", nargs="+", metavar="NAME=LIB_FOLDER")
    flags.add_argument("--rounds", type=int, default=100)
    flags = flags.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    builds = dict(b.split("=", 1) for b in flags.builds)
    with tempfile.TemporaryDirectory() as folder:
        program, drivers = os.path.join(folder, "process"), os.path.join(folder, "none")
        os.mkdir(drivers)
        first = os.path.abspath(next(iter(builds.values())))
        subprocess.run(["gcc", "-O2", f"-I{root}/include", "-x", "c", "-", "-o", program, f"-L{first}",
                        "-lneural_network_core", "-lneural_network_runtime"], input=PROGRAM, text=True, check=True)
        found = {name: [] for name in builds}
        for _ in range(flags.rounds):
            for name, lib in builds.items():
                found[name].append(run(program, os.path.abspath(lib), drivers))
        for name, rows in found.items():
            size = os.path.getsize(os.path.join(builds[name], "libanynpu.so.0"))
            cpu, clock, kb, threads, fds = (statistics.median(c) for c in zip(*rows))
            print(f"{name}: library {size / 1e6:.2f} MB, {cpu:.1f} ms of processors, {clock:.1f} ms from exec to the end, "
                  f"{kb:.0f} KB written, {threads:.0f} threads, {fds:.0f} descriptors")


if __name__ == "__main__":
    main()

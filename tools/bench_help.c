/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench_help.h"

#include "bench.h"

#define PLACE \
	"     --node LIST       run on the cpus of these nodes, with their memory\n" \
	"     --cpus LIST       run on these cpus only (as numactl writes them: 0-3,8)\n"

#define COMMON \
	" -l, --loops N         samples of each; the first round is thrown away besides (10)\n" \
	"     --min-time MS     the least that a sample is timed for (20)\n" \
	"     --reserve         enlarge the pool of huge pages for the run where needed\n" \
	"     --no-reserve      never do that, not even as root\n" \
	" -j, --json            raw samples, with the host sheet\n" \
	" -h, --help            this text\n"

#define SIZES \
	"\nSizes: bytes, or with K M G T (powers of 1024) and a fraction perhaps.\n" \
	"Exit: 0 ok, 1 failed or partial, 2 usage, 77 not supported here.\n" \
	"See clearpages-bench(1).\n"

static const char main_help[] =
	"Usage: clearpages bench [options]\n"
	"       clearpages bench fault|clear [options]\n"
	"\n"
	"How fast this machine makes huge pages ready, in under a minute: the kernel's\n"
	"fault, and what it could be under other policies.\n"
	"\n"
	" -r, --seed SEED       order of the samples\n"
	PLACE COMMON SIZES;

static const char fault_help[] =
	"Usage: clearpages bench fault [options]\n"
	"\n"
	"How fast this kernel makes pages ready.\n"
	"\n"
	" -s, --size SIZE       bytes made ready in a loop, all threads together (256M)\n"
	" -p, --page PAGE       4K, 64K, 2M, 1G, hugepages-2048kB (2M)\n"
	"     --thp             transparent huge pages, not those of hugetlb\n"
	" -f, --path LIST       demand (alias kernel), populate (MAP_POPULATE),\n"
	"                       madvise (MADV_POPULATE_WRITE); and with one mapping\n"
	"                       for all threads: touch-threads (each touches its part,\n"
	"                       as QEMU does), populate-parallel (the library) (demand);\n"
	"                       and from a pool of the library, dirty: pager-signal\n"
	"                       (cleared at the touch), pager-ahead, pager-thread (and\n"
	"                       ahead of it), pool-eager (cleared by get), pool-clean\n"
	"     --policy LIST     how these clear: ranges,auto (auto)\n"
	"     --use LIST        the program's next step, timed with the fault: none,\n"
	"                       first16K, random, write, read (none)\n"
	"     --touch WHERE     first, middle, last or random byte of a page (first)\n"
	"     --walk ORDER      how it goes through its pages: forward, reverse or\n"
	"                       random (forward)\n"
	" -r, --seed SEED       random touches, random walk, order of the samples\n"
	" -t, --threads N       threads, each with a mapping of its own (1)\n"
	"     --shared          one mapping, split among the threads\n"
	" -c, --cycles          count processor cycles, over all threads\n"
	PLACE COMMON SIZES;

static const char clear_help[] =
	"Usage: clearpages bench clear [options]\n"
	"\n"
	"How fast policies and variants zero memory that is mapped already.\n"
	"\n"
	" -s, --size SIZE       bytes zeroed in a loop, all threads together (256M)\n"
	" -p, --page PAGE       4K, 64K, 2M, 1G, hugepages-2048kB (2M)\n"
	"     --thp             transparent huge pages, not those of hugetlb\n"
	" -k, --chunk LIST      bytes that one call zeroes (the page)\n"
	"     --policy LIST     policies: stock,ranges,batch=8M;far=clzero\n"
	"                       (stock,ranges,stream,auto)\n"
	" -f, --function LIST   variants, each by itself: stosb,clzero\n"
	"     --order LIST      with -f: forward,right-first,reverse,narrow\n"
	"     --unit LIST       with -f: bytes to one call of the variant\n"
	"     --touch WHERE     first, middle, last, random or none (first)\n"
	" -r, --seed SEED       of --touch random and of the order of the samples (1)\n"
	" -t, --threads N       threads, each with a part of the memory (1)\n"
	" -c, --cycles          count processor cycles, over all threads\n"
	PLACE COMMON SIZES;

const char *bench_help(unsigned int command)
{
	return command == BENCH_FAULT ? fault_help :
	       command == BENCH_CLEAR ? clear_help : main_help;
}

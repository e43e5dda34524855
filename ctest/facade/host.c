/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The made-up API through the library, with and without a driver.
 *
 *     host alone            no driver: every call is ours
 *     host driver FILE      pass-through, then mixed, then forks
 *     host first FILE       the first call carries numbers of every register class to the driver
 *     host device FILE      the driver's own calls go to it, all others are ours
 *     host moved [FILE]     the first call carries structs by value, to the driver or to us
 *     host race FILE        32 threads make the first call while the driver is chosen
 *     host inner FILE       the driver creates objects for itself, which stay its own
 *     host early FILE       the driver calls the API while it is being opened
 *     host watched FILE     with ANYNPU_LOG=trace or ANYNPU_CHECK=pointers: calls without a handle come by
 *     host slow FILE        the driver is slow to open, and another API answers meanwhile
 *     host namespace FILE   the driver is in a namespace of the dynamic loader of its own
 *     host self FILE        FILE is a library of ours under a vendor's name: no driver
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "anynpu.h"
#include "host_end.h"
#include "toy.h"

#define CHECK(cond) ((cond) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #cond), fflush(stdout), _exit(1)))

static int sum_of(toy_context context)
{
	int sum = -1;
	CHECK(toy_add(context, 1, 2.5, 3, &sum) == 0);
	return sum;
}

/* Whether calls go to the driver unseen: a handle of 0, which is nobody's, goes there too. */
static int passes(void)
{
	int sum;
	toy_status status = toy_add(0, 1, 2.5, 3, &sum);
	CHECK(status == -6 || status == -1);
	return status == -6;
}

/* Structs by value, with numbers that differ. */
static int moved(toy_context context)
{
	toy_place place = {{1, 2, 3, 4, 5, 6, 7, 8}, 9};
	toy_pair pair = {10, 11.5};
	toy_spot spot = {12.5f, 13.5f, TOY_LARGE};
	int sum = -1;
	CHECK(toy_move(context, place, pair, 14, spot, &sum) == 0);
	return sum - (9 + 10 + 11 + 14 + 12 + 26 + 1 + 1793);
}

static void lists(int length)
{
	toy_list *list = toy_list_make(), *more = toy_list_make();
	CHECK(list && more && toy_list_length(list) == length);
	CHECK(toy_list_end(list) == 0);
	toy_list_free(more);
	toy_list_free(NULL);
	if (length == 3) {
		CHECK(toy_list_end(list) == -1 && toy_list_end(NULL) == -1 && toy_list_length(more) == -1);
		toy_list_free(more);
	}
}

/* Every way to say whose a call is, for one context and the owner that its sums show. */
static void owned_calls(toy_context context, int extra)
{
	toy_context shared = 0;
	CHECK(toy_share(&context, &shared) == 0 && sum_of(shared) == 6 + extra);
	toy_block *block = toy_alloc(context, 3), copy;
	CHECK(block != NULL);
	copy = *block;
	CHECK(toy_fill(shared, &copy, 7) == 0 && block->data[2] == 7 + extra);
	CHECK(moved(shared) == extra && tallyCalls(1) == 2);
	CHECK(toy_close(shared) == 0 && toy_free(block) == 0);
	CHECK(strcmp(toy_who(), "library") == 0);
}

static void alone(void)
{
	toy_context context = 0, other = 1;
	int sum;
	CHECK(strcmp(toy_who(), "library") == 0 && strcmp(toy_board(), "none") == 0 && !passes());
	CHECK(toy_open(&context, "x") == 0 && context != 0);
	CHECK(sum_of(context) == 6);
	owned_calls(context, 0);
	lists(3);
	CHECK(toy_open(NULL, "x") == -1 && toy_open(&other, NULL) == -1 && other == 0);
	other = 1;
	CHECK(toy_open(&other, "panic") == -1 && other == 0);
	CHECK(toy_open(&other, "panic") == -1);
	CHECK(toy_add(context, 1, 2.5, 3, NULL) == -1);
	CHECK(toy_close(context) == 0);
	CHECK(toy_close(context) == -1);
	CHECK(toy_add(context, 1, 2.5, 3, &sum) == -1);
}

static void wait_for(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void with_driver(void)
{
	toy_context theirs = 0, ours = 0;
	int sum;
	CHECK(passes() && strcmp(toy_board(), "board") == 0);
	CHECK(toy_open(&theirs, "theirs") == 0 && theirs != 0);
	CHECK(sum_of(theirs) == 1006);
	owned_calls(theirs, 1000);
	lists(1003);

	/* The first object of ours: calls go by handle from here on. */
	CHECK(toy_open(&ours, "ours") == 0 && ours != 0);
	CHECK(sum_of(ours) == 6);
	CHECK(sum_of(theirs) == 1006);
	CHECK(!passes() && strcmp(toy_board(), "board") == 0);
	owned_calls(ours, 0);
	owned_calls(theirs, 1000);
	CHECK(moved(0) == 1000); /* our behaviour passes this one on */
	lists(1003);
	setenv("TOY_LISTS", "1", 1);
	lists(3);
	unsetenv("TOY_LISTS");

	/* What is ours in a call keeps it here, and is refused beside what is the driver's. */
	toy_block *mine = toy_alloc(ours, 1), *its = toy_alloc(theirs, 1);
	CHECK(toy_fill(theirs, mine, 1) == -1 && toy_fill(ours, its, 1) == -1 && toy_fill(0, mine, 1) == -1);
	CHECK(toy_free(mine) == 0 && toy_free(its) == 0 && toy_free(NULL) == -1 && toy_fill(0, NULL, 1) == -1);
	toy_context zero = 0, made = 1;
	CHECK(toy_share(NULL, &made) == -1 && made == 0 && toy_share(&zero, &made) == -1);
	toy_context more = 0;
	CHECK(toy_open(&more, "theirs") == 0 && sum_of(more) == 1006);
	CHECK(toy_close(more) == 0);

	/* A child keeps the driver's objects and loses ours. */
	pid_t pid = fork();
	if (pid == 0) {
		alarm(300);
		host_begin();
		CHECK(sum_of(theirs) == 1006);
		CHECK(toy_add(ours, 1, 2.5, 3, &sum) == -2);
		CHECK(toy_move(ours, (toy_place){{1}, 1}, (toy_pair){1, 1}, 1, (toy_spot){1, 1, TOY_SMALL}, &sum) == -2);
		CHECK(moved(theirs) == 1000);
		CHECK(toy_open(&more, "theirs") == -2);
		CHECK(toy_who() == NULL);
		_exit(host_end());
	}
	wait_for(pid);
	CHECK(sum_of(ours) == 6);
	CHECK(toy_close(theirs) == 0 && toy_close(ours) == 0);
}

/* The objects that the driver creates for itself are the driver's, by the address and by the thread, in every state. */
static void inner_calls(void)
{
	static const char *const ways[] = {"nested", "last", "thread"};
	toy_context ours = 0;
	for (int mixed = 0; mixed < 2; mixed++) {
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
			toy_context theirs = 0;
			CHECK(toy_open(&theirs, ways[i]) == 0 && theirs != 0);
			CHECK(sum_of(theirs) == 1006);
			CHECK(passes() == !mixed);
			CHECK(toy_close(theirs) == 0);
		}
		if (!mixed)
			CHECK(toy_open(&ours, "ours") == 0 && sum_of(ours) == 6);
	}
	CHECK(toy_close(ours) == 0);
}

static toy_context made_in_callback;

static void make_one(int level, const char *component, const char *message, void *user)
{
	(void)level, (void)component, (void)message, (void)user;
	if (!made_in_callback)
		CHECK(toy_open(&made_in_callback, "ours") == 0);
}

/*
 * The driver's call fails, the library logs, the program's log function creates an object: the program's, although a
 * driver is below.
 */
static void callback_from_inner_call(void)
{
	toy_context ended = 0, theirs = 0;
	char name[40];
	CHECK(toy_open(&ended, "ours") == 0 && toy_close(ended) == 0);
	snprintf(name, sizeof name, "report %llx", (unsigned long long)ended);
	anynpu_set_log_callback(make_one, NULL);
	CHECK(toy_open(&theirs, name) == 0 && sum_of(theirs) == 1006);
	anynpu_set_log_callback(NULL, NULL);
	CHECK(made_in_callback != 0 && sum_of(made_in_callback) == 6);
	CHECK(toy_close(made_in_callback) == 0 && toy_close(theirs) == 0);
}

/* What a driver gets while it is being opened is ours, so its calls have to go by handle from the start. */
static void early_call(const char *file)
{
	CHECK(!passes());
	void *driver = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
	CHECK(driver != NULL);
	toy_context (*get)(void) = NULL;
	void *symbol = dlsym(driver, "driver_early");
	memcpy(&get, &symbol, sizeof get);
	CHECK(get() != 0 && sum_of(get()) == 6);
	toy_context theirs = 0;
	CHECK(toy_open(&theirs, "theirs") == 0 && sum_of(theirs) == 1006);
	CHECK(toy_close(theirs) == 0 && toy_close(get()) == 0);
}

static void watched(void)
{
	toy_context theirs = 0;
	CHECK(!passes());
	CHECK(toy_open(&theirs, "theirs") == 0 && sum_of(theirs) == 1006);
	if (getenv("ANYNPU_CHECK"))
		CHECK(toy_free((toy_block *)8) == -1 && toy_share((toy_context *)8, &(toy_context){0}) == -1);
	CHECK(toy_close(theirs) == 0);
}

static void fork_in_pass_through(void)
{
	toy_context theirs = 0;
	CHECK(toy_open(&theirs, "theirs") == 0);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(300);
		host_begin();
		CHECK(passes() && toy_who() == NULL);
		CHECK(sum_of(theirs) == 1006);
		CHECK(toy_open(&theirs, "theirs") == -2);
		_exit(host_end());
	}
	wait_for(pid);
	CHECK(toy_close(theirs) == 0);
}

static void first_call(const char *file)
{
	void *driver = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	CHECK(driver != NULL);
	toy_status (*their_open)(toy_context *, const char *) = NULL;
	void *symbol = dlsym(driver, "toy_open");
	memcpy(&their_open, &symbol, sizeof symbol);
	toy_context theirs = 0;
	CHECK(their_open(&theirs, "theirs") == 0);
	CHECK(sum_of(theirs) == 1006); /* this one starts Go, finds the driver and arrives there unharmed */
	CHECK(toy_close(theirs) == 0);
}

/* A function of the driver's file, which the library has opened. */
static void *function_of(const char *file, const char *name)
{
	void *driver = dlopen(file, RTLD_NOW | RTLD_NOLOAD), *symbol = driver ? dlsym(driver, name) : NULL;
	CHECK(symbol != NULL);
	return symbol;
}

static void as_device(const char *file)
{
	static const char *const ways[] = {"nested", "thread"};
	toy_context ours = 0;
	int sum;
	CHECK(!passes() && toy_open(&ours, "theirs") == 0 && sum_of(ours) == 6);
	owned_calls(ours, 0);
	CHECK(moved(ours) == 0 && strcmp(toy_board(), "none") == 0);
	lists(3);
	toy_status (*open)(toy_context *, const char *), (*add)(toy_context, int, double, int, int *), (*close)(toy_context);
	void *at[] = {function_of(file, "toy_open"), function_of(file, "toy_add"), function_of(file, "toy_close")};
	memcpy(&open, &at[0], sizeof open);
	memcpy(&add, &at[1], sizeof add);
	memcpy(&close, &at[2], sizeof close);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		toy_context theirs = 0;
		CHECK(open(&theirs, ways[i]) == 0 && add(theirs, 1, 2.5, 3, &sum) == 0 && sum == 1006);
		CHECK(toy_add(theirs, 1, 2.5, 3, &sum) == -1 && toy_close(theirs) == -1 && close(theirs) == 0);
	}
	CHECK(toy_close(ours) == 0);
	alone();
}

static _Atomic int slow, waiting;

/* The driver calls it while it is being opened, for as long as it says so. */
int host_waits(void);
int host_waits(void)
{
	waiting = 1;
	return slow;
}

int rknn_destroy(uint64_t context);

static void *first_toy_call(void *unused)
{
	CHECK(passes());
	return unused;
}

static void slow_driver(void)
{
	pthread_t thread;
	slow = 1;
	CHECK(pthread_create(&thread, NULL, first_toy_call, NULL) == 0);
	for (int i = 0; !waiting && i < 60000; i++)
		usleep(1000);
	CHECK(waiting);
	alarm(50); /* less than the driver waits */
	CHECK(rknn_destroy(0) != 0); /* the first call of that API */
	alarm(0);
	slow = 0;
	pthread_join(thread, NULL);
}

static void other_namespace(void)
{
	int sum = 0;
	CHECK(passes());
	CHECK(toy_add(1, 1, 2.5, 3, &sum) == 0 && sum == 1006);
}

static pthread_barrier_t barrier;

static void *racer(void *unused)
{
	pthread_barrier_wait(&barrier);
	CHECK(passes());
	return unused;
}

static void race(void)
{
	pthread_t t[32];
	pthread_barrier_init(&barrier, NULL, 32);
	for (int i = 0; i < 32; i++)
		CHECK(pthread_create(&t[i], NULL, racer, NULL) == 0);
	for (int i = 0; i < 32; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (argc > 2)
		setenv("TOY_DRIVER", host_keeps = argv[2], 1);
	host_begin();
	if (strcmp(mode, "alone") == 0)
		alone();
	else if (strcmp(mode, "driver") == 0) {
		fork_in_pass_through();
		with_driver();
	} else if (strcmp(mode, "first") == 0)
		first_call(argv[2]);
	else if (strcmp(mode, "device") == 0) {
		setenv("TOY_DEVICE", "1", 1);
		as_device(argv[2]);
	} else if (strcmp(mode, "slow") == 0)
		slow_driver();
	else if (strcmp(mode, "namespace") == 0)
		other_namespace();
	else if (strcmp(mode, "moved") == 0)
		CHECK(moved(0) == (argc > 2 ? 1000 : 0));
	else if (strcmp(mode, "race") == 0)
		race();
	else if (strcmp(mode, "inner") == 0) {
		inner_calls();
		callback_from_inner_call();
	} else if (strcmp(mode, "early") == 0) {
		setenv("TOY_EARLY", "1", 1);
		early_call(argv[2]);
	} else if (strcmp(mode, "watched") == 0)
		watched();
	else if (strcmp(mode, "self") == 0) {
		toy_context context = 0;
		CHECK(toy_open(&context, "theirs") == -1 && toy_open(&context, "ours") == 0 && sum_of(context) == 6);
		CHECK(toy_close(context) == 0);
	} else
		CHECK(!"usage: host alone | driver FILE | first FILE | device FILE | moved [FILE] | race FILE | inner FILE | early "
			"FILE | watched FILE | slow FILE | namespace FILE | self FILE");
	return host_end();
}

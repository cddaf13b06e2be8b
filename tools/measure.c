/* SPDX-License-Identifier: GPL-2.0-only */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "random.h"
#include "tool.h"

#define TRIES 3
#define LEAST_ROUNDS 6 /* fewer give no 95 % interval */

static int one_try(struct measure *m, struct trial *t, struct sample *s, uint64_t *delay_ns)
{
	int err = TOOL_OK;

	s->bytes = s->ns = s->cycles = 0;
	s->loops = 0;
	*delay_ns = 0;
	while (!err && s->ns < m->min_ns && (!t->most_loops || s->loops < t->most_loops)) {
		struct crew_time time;

		if (t->ready)
			err = crew_run(m->crew, t->ready, t->arg, NULL);
		if (err)
			break;
		err = crew_run(m->crew, t->work, t->arg, &time);
		if (!err && t->check)
			err = crew_run(m->crew, t->check, t->arg, NULL);
		s->bytes += t->bytes;
		s->ns += time.ns ? time.ns : 1;
		s->cycles += time.cycles;
		s->loops++;
		*delay_ns += time.delay_ns;
	}
	return err;
}

/* A disturbed try is repeated at once, so that the round stays together. */
static int take_sample(struct measure *m, struct trial *t, struct sample *s)
{
	unsigned int try, kind;

	for (try = 0; try < TRIES; try++) {
		struct noise_mark from, to;
		uint64_t delay_ns;
		int err;

		noise_mark(&from);
		err = one_try(m, t, s, &delay_ns);
		if (err)
			return err;
		noise_mark(&to);
		s->noise = noise_between(&from, &to, s->ns, delay_ns);
		s->rejected = try;
		if (!s->noise || try == TRIES - 1)
			break;
		for (kind = 0; kind < NOISE_KINDS; kind++)
			m->rejected[kind] += s->noise >> kind & 1;
	}
	m->taken++;
	m->noisy += s->noise != 0;
	return TOOL_OK;
}

static void shuffle(unsigned int *order, unsigned int count, uint64_t *seed)
{
	unsigned int i;

	for (i = count; i > 1; i--) {
		unsigned int j = (unsigned int)random_below(seed, i), t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

static double farthest(struct measure *m)
{
	double most = 0;
	unsigned int i;

	for (i = 1; i < crew_count(m->crew); i++) {
		double d = crew_distance(m->crew, i);

		most = d > most ? d : most;
	}
	if (!m->distance_low_ns || most < m->distance_low_ns)
		m->distance_low_ns = most;
	if (most > m->distance_high_ns)
		m->distance_high_ns = most;
	return most;
}

static int run_round(struct measure *m, unsigned int round, const unsigned int *order)
{
	double distance = farthest(m);
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		struct trial *t = &m->trials[order[i]];
		struct sample scratch = { 0 }, *s = round ? &t->samples[round - 1] : &scratch;
		int err;

		progress("round %u of %u: %s", round, m->rounds, t->name);
		err = take_sample(m, t, s);
		if (err)
			return err;
		s->distance_ns = distance;
	}
	return TOOL_OK;
}

int measure_run(struct measure *m)
{
	unsigned int *order = calloc(m->count, sizeof(*order));
	uint64_t seed = m->seed;
	unsigned int i, round;
	struct noise_mark begin, now;
	int err = TOOL_OK;

	for (i = 0; order && i < m->count; i++) {
		order[i] = i;
		m->trials[i].samples = calloc(m->rounds, sizeof(struct sample));
		if (!m->trials[i].samples)
			break;
	}
	if (!order || i < m->count) {
		free(order);
		return fail(TOOL_FAILED, "out of memory for %u samples of %u trials", m->rounds,
			    m->count);
	}
	noise_mark(&begin);
	for (round = 0; round <= m->rounds && !err; round++) {
		shuffle(order, m->count, &seed);
		err = run_round(m, round, order);
		if (!round) { /* thrown away, with all that it counted */
			m->taken = m->noisy = 0;
			memset(m->rejected, 0, sizeof(m->rejected));
		}
		noise_mark(&now);
		if (m->budget_ns && now.at_ns - begin.at_ns > m->budget_ns && round >= LEAST_ROUNDS)
			m->rounds = round;
	}
	progress(NULL);
	free(order);
	return err;
}

void measure_free(struct measure *m)
{
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		free(m->trials[i].samples);
		m->trials[i].samples = NULL;
	}
}

double *measure_rates(const struct measure *m, const struct trial *t)
{
	double *rates = calloc(m->rounds, sizeof(*rates));
	unsigned int i;

	if (!rates)
		abort();
	for (i = 0; i < m->rounds; i++)
		rates[i] = (double)t->samples[i].bytes * 1e9 / (double)t->samples[i].ns;
	return rates;
}

static unsigned int thrown_away(const struct measure *m)
{
	unsigned int kind, sum = 0;

	for (kind = 0; kind < NOISE_KINDS; kind++)
		sum += m->rejected[kind];
	return sum;
}

void measure_print(const struct measure *m)
{
	unsigned int i, kind;

	printf("%s", crew_count(m->crew) > 1 ? "cpus" : "cpu");
	for (i = 0; i < crew_count(m->crew); i++)
		printf("%s%u", i ? "," : " ", crew_cpus(m->crew)[i]);
	if (crew_count(m->crew) > 1)
		printf(" (%.0f to %.0f ns apart, there and back)", m->distance_low_ns,
		       m->distance_high_ns);
	printf("; %u sample%s of at least %.0f ms, seed %llu", m->taken,
	       m->taken == 1 ? "" : "s", (double)m->min_ns / 1e6,
	       (unsigned long long)m->seed);
	for (i = 0; i < m->count; i++)
		if (m->trials[i].most_loops)
			printf("; of \"%s\" %u loops, however short", m->trials[i].name,
			       m->trials[i].most_loops);
	for (kind = 0; kind < NOISE_KINDS; kind++)
		if (m->rejected[kind])
			printf("; %u taken again for %s", m->rejected[kind], noise_names[kind]);
	if (!thrown_away(m))
		printf("; none was disturbed");
	printf("\n");
	if (m->noisy)
		printf("NOISY: %u of %u samples were disturbed at every try and kept\n", m->noisy,
		       m->taken);
}

json_t *measure_json(const struct measure *m)
{
	json_t *cpus = json_array(), *rejected = json_object();
	unsigned int i, kind;

	for (i = 0; i < crew_count(m->crew); i++)
		json_array_append_new(cpus, json_integer(crew_cpus(m->crew)[i]));
	for (kind = 0; kind < NOISE_KINDS; kind++)
		json_object_set_new(rejected, noise_keys[kind], json_integer(m->rejected[kind]));
	return json_pack("{s:o, s:i, s:I, s:I, s:i, s:i, s:o}", "cpus", cpus, "rounds", m->rounds,
			 "min_sample_ns", (json_int_t)m->min_ns, "seed", (json_int_t)m->seed,
			 "samples_kept", m->taken, "samples_kept_noisy", m->noisy,
			 "rejected_for", rejected);
}

json_t *measure_samples_json(const struct measure *m, const struct trial *t)
{
	json_t *all = json_array();
	unsigned int i, kind;

	for (i = 0; i < m->rounds; i++) {
		const struct sample *s = &t->samples[i];
		json_t *one = json_pack("{s:I, s:I, s:i, s:i}", "bytes", (json_int_t)s->bytes,
					"ns", (json_int_t)s->ns, "loops", s->loops,
					"tries_rejected", s->rejected);

		if (s->cycles)
			json_object_set_new(one, "cycles", json_integer((json_int_t)s->cycles));
		if (crew_count(m->crew) > 1)
			json_object_set_new(one, "distance_ns", json_real(s->distance_ns));
		if (s->noise) {
			json_t *noise = json_array();

			for (kind = 0; kind < NOISE_KINDS; kind++)
				if (s->noise >> kind & 1)
					json_array_append_new(noise, json_string(noise_keys[kind]));
			json_object_set_new(one, "disturbed_by", noise);
		}
		json_array_append_new(all, one);
	}
	return all;
}

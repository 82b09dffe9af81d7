// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a stream. Each eight of them are a number that says, when it is unmixed, which
 * connection and direction they are from, and their place there: so what is found where it should
 * not be tells where it belongs.
 */

#include <stdio.h>
#include <string.h>

#include "sockfuzz.h"

#define WORD		sizeof(uint64_t)
#define PLACE_BITS	38
#define PLACE_MASK	((1ULL << PLACE_BITS) - 1)

static uint64_t mix_word(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t unmix_word(uint64_t z)
{
	z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3ULL;
	z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089ULL;
	return z ^ (z >> 30) ^ (z >> 60);
}

static uint64_t word_at(uint32_t id, int dir, uint64_t index)
{
	return mix_word((((uint64_t)id << 1 | dir) << PLACE_BITS | index) + 1);
}

static uint8_t byte_at(uint32_t id, int dir, uint64_t offset)
{
	return word_at(id, dir, offset / WORD) >> 8 * (offset % WORD);
}

void pattern_fill(void *buf, size_t len, uint32_t id, int dir, uint64_t offset)
{
	uint8_t *bytes = buf;
	uint64_t word;
	size_t i = 0;

	while (i < len) {
		if ((offset + i) % WORD || len - i < WORD) {
			bytes[i] = byte_at(id, dir, offset + i);
			i++;
			continue;
		}
		word = word_at(id, dir, (offset + i) / WORD);
		memcpy(bytes + i, &word, WORD);
		i += WORD;
	}
}

static void tell_marks(const struct way *way, uint64_t from, uint64_t to)
{
	int i;

	for (i = 0; i < MARKS; i++)
		if (way->marks[i] > from && way->marks[i] <= to + 1)
			printf("# byte %llu may be left out\n",
			       (unsigned long long)way->marks[i] - 1);
}

/**
 * pattern_tell_origin() - whose bytes are these?
 * @buf: the bytes
 * @len: how many
 */
void pattern_tell_origin(const uint8_t *buf, size_t len)
{
	uint64_t word;
	size_t i;

	printf("# found:");
	for (i = 0; i < len && i < 32; i++)
		printf(" %02x", buf[i]);
	printf("\n");
	for (i = 0; i + WORD <= len && i < 4096; i++) {
		memcpy(&word, buf + i, WORD);
		word = unmix_word(word) - 1;
		if (word >> (PLACE_BITS + 1) > newest_id || (word & PLACE_MASK) >> 24)
			continue;
		printf("# %zu bytes on: connection %llu, way %llu, byte %llu\n", i,
		       (unsigned long long)(word >> (PLACE_BITS + 1)),
		       (unsigned long long)(word >> PLACE_BITS & 1),
		       (unsigned long long)((word & PLACE_MASK) * WORD));
		return;
	}
	printf("# no bytes of any connection\n");
}

static bool is_mark(const struct way *way, uint64_t offset)
{
	int i;

	for (i = 0; i < MARKS; i++)
		if (way->marks[i] == offset + 1)
			return true;
	return false;
}

/**
 * struct choice - a byte that may be the urgent one, or the next one, which is equal by chance
 * @index: of it in what came
 * @place: of it in the stream
 */
struct choice {
	size_t index;
	uint64_t place;
};

#define CHOICES	16

static unsigned int marks_from(const struct way *way, uint64_t place)
{
	unsigned int nr = 0;

	while (is_mark(way, place + nr))
		nr++;
	return nr;
}

/*
 * As many bytes as are right. An urgent byte may be left out; @place is where the first byte was,
 * and then behind the last one. @unsure: it may still be so many further, as all urgent bytes of a
 * row may have been left out where the first one seems to be there.
 */
static size_t count_right(const struct slot *slot, int dir, const uint8_t *bytes, size_t len,
			  uint64_t *place, unsigned int *unsure)
{
	const struct way *way = &slot->way[dir];
	struct choice choices[CHOICES];
	int nr = 0;
	size_t i = 0;

	while (i < len) {
		uint64_t word = word_at(slot->id, dir, *place / WORD);
		bool mark = way->nr_marks && is_mark(way, *place);

		if (!mark && !(*place % WORD) && len - i >= WORD && !way->nr_marks &&
		    !memcmp(bytes + i, &word, WORD)) {
			i += WORD;
			*place += WORD;
		} else if (bytes[i] == (uint8_t)(word >> 8 * (*place % WORD))) {
			if (mark)
				choices[nr++ % CHOICES] = (struct choice){ i, *place };
			i++;
			++*place;
		} else if (mark) {
			++*place;
		} else if (nr > 0) {
			nr--;
			i = choices[nr % CHOICES].index;
			*place = choices[nr % CHOICES].place + 1;
		} else {
			break;
		}
	}
	*unsure = 0;
	for (; nr > 0 && choices[(nr - 1) % CHOICES].index + WORD > len && *unsure < MARKS; nr--)
		*unsure += marks_from(way, choices[(nr - 1) % CHOICES].place);
	return i;
}

/**
 * pattern_check() - are these the bytes of that place?
 * @slot: the connection
 * @dir: from which end
 * @buf: what came
 * @len: how much
 * @offset: its place
 *
 * Return: by how much the place moves on.
 */
size_t pattern_check(struct slot *slot, int dir, const void *buf, size_t len,
		     uint64_t offset)
{
	uint64_t place = offset;
	struct way *way = &slot->way[dir];
	unsigned int hole, unsure, slack = way->slack;
	size_t right = count_right(slot, dir, buf, len, &place, &unsure);

	/* Urgent bytes among those that were thrown away unseen */
	for (hole = 1; right < len && hole <= slack; hole++) {
		place = offset + hole;
		right = count_right(slot, dir, buf, len, &place, &unsure);
	}
	if (right < len) {
		pattern_tell_origin((const uint8_t *)buf + right, len - right);
		tell_marks(way, offset, place);
		fail_on(slot, dir, "not byte %llu as it should be, %zu of %zu are right",
			(unsigned long long)place, right, len);
	}
	/* A few bytes may be right by chance */
	way->slack = unsure + (len < 2 * WORD ? slack : 0);
	return place - offset;
}

/* Among the first bytes: where does a whole word of this way begin, and which place is it of? */
static bool find_word(const struct slot *slot, int dir, const uint8_t *bytes, size_t len,
		      size_t *at, uint64_t *place)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + WORD <= len && i < 4 * WORD; i++) {
		memcpy(&word, bytes + i, WORD);
		word = unmix_word(word) - 1;
		if (word >> PLACE_BITS != ((uint64_t)slot->id << 1 | dir))
			continue;
		*at = i;
		*place = (word & PLACE_MASK) * WORD;
		return true;
	}
	return false;
}

/**
 * pattern_check_somewhere() - are these bytes of this connection that can be there now?
 * @slot: the connection
 * @dir: from which end
 * @buf: what was seen
 * @len: how much
 * @from: what had been received before it was looked at
 * @one_piece: without a gap
 *
 * For those who look while another thread receives. Gaps are there if the call had to wait.
 */
void pattern_check_somewhere(const struct slot *slot, int dir, const void *buf, size_t len,
			     uint64_t from, bool one_piece)
{
	const struct way *way = &slot->way[dir];
	uint64_t to = __atomic_load_n(&way->sending, __ATOMIC_SEQ_CST), place;
	const uint8_t *bytes = buf;
	size_t left = len, at;
	unsigned int unsure;
	bool good = true;

	/* A few bytes do not tell where they are from */
	while (good && left >= 4 * WORD) {
		good = find_word(slot, dir, bytes, left, &at, &place) && place + MARKS >= from &&
		       place <= to && (left == len || !one_piece || way->nr_marks);
		if (!good)
			break;
		at += count_right(slot, dir, bytes + at, left - at, &place, &unsure);
		bytes += at;
		left -= at;
	}
	if (good && (!left || !one_piece || way->nr_marks || left == len))
		return;
	pattern_tell_origin(bytes, left);
	tell_marks(way, from, to);
	fail_on(slot, dir, "%zu bytes seen that cannot be there, between %llu and %llu", len,
		(unsigned long long)from, (unsigned long long)to);
}

/**
 * pattern_check_end() - the stream is at its end: was that all?
 * @slot: the connection
 * @dir: from which end
 */
void pattern_check_end(const struct slot *slot, int dir)
{
	const struct way *way = &slot->way[dir];
	uint64_t sent = __atomic_load_n(&way->sent, __ATOMIC_SEQ_CST);
	uint64_t place = way->received;

	if (slot_harmed(slot))
		return;
	while (place < sent && is_mark(way, place))
		place++;
	if (place < sent)
		fail_on(slot, dir, "end of stream after %llu bytes of %llu",
			(unsigned long long)place, (unsigned long long)sent);
	if (!__atomic_load_n(&slot->shut[dir], __ATOMIC_SEQ_CST))
		fail_on(slot, dir, "end of stream, which no end has ended");
}

/**
 * pattern_check_self() - two urgent bytes in a row are left out, and the next byte equals the first
 *
 * Only the byte behind that tells. Fails as if the bytes were wrong.
 */
void pattern_check_self(void)
{
	enum { ID = 1120, DIR = 1, PLACE = 21242 };
	static struct slot slot = { .id = ID };
	struct way *way = &slot.way[DIR];
	uint8_t bytes[2];

	way->marks[way->nr_marks++] = PLACE + 1;
	way->marks[way->nr_marks++] = PLACE + 2;
	pattern_fill(bytes, 2, ID, DIR, PLACE + 2);
	way->received = PLACE;
	way->received += pattern_check(&slot, DIR, bytes, 1, way->received);
	way->received += pattern_check(&slot, DIR, bytes + 1, 1, way->received);
	if (byte_at(ID, DIR, PLACE) != bytes[0] || way->received != PLACE + 4)
		fail("the check of bytes is wrong: at %llu", (unsigned long long)way->received);
}

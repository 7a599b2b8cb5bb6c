/* SPDX-License-Identifier: MIT */
#include "store/history/instant.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "store/history/history.h"

/* Reads exactly so many digits. */
static bool read_digits(const char **next, int count, int *ret)
{
	*ret = 0;
	for (int i = 0; i < count; i++, ++*next) {
		if (**next < '0' || **next > '9')
			return false;
		*ret = *ret * 10 + (**next - '0');
	}
	return true;
}

static bool skip(const char **next, char character)
{
	if (**next != character)
		return false;
	++*next;
	return true;
}

/* .fraction, as nanoseconds. */
static bool read_fraction(const char **next, uint64_t *ret)
{
	uint64_t scale = NS_PER_SECOND;
	int digit;

	*ret = 0;
	if (!skip(next, '.'))
		return true;
	if (!read_digits(next, 1, &digit))
		return false;
	do {
		scale /= 10;
		*ret += scale * (uint64_t)digit;
	} while (read_digits(next, 1, &digit));
	return true;
}

/* HH:MM[:SS[.fraction]] */
static bool read_time(const char **next, struct tm *ret, uint64_t *ret_ns)
{
	*ret_ns = 0;
	if (!read_digits(next, 2, &ret->tm_hour) || !skip(next, ':') ||
	    !read_digits(next, 2, &ret->tm_min))
		return false;
	if (skip(next, ':') &&
	    (!read_digits(next, 2, &ret->tm_sec) || !read_fraction(next, ret_ns)))
		return false;
	return ret->tm_hour < 24 && ret->tm_min < 60 && ret->tm_sec <= 60;
}

static bool read_date(const char **next, struct tm *ret)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year, month, day;

	if (!read_digits(next, 4, &year) || !skip(next, '-') || !read_digits(next, 2, &month) ||
	    !skip(next, '-') || !read_digits(next, 2, &day))
		return false;
	ret->tm_year = year - 1900;
	ret->tm_mon = month - 1;
	ret->tm_mday = day;
	return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

/* Z, +HH:MM, +HHMM, +HH or the same with a minus; *ret_has_zone is false when there is none. */
static bool read_zone(const char **next, bool *ret_has_zone, int *ret_seconds)
{
	bool is_west = **next == '-';
	int hours, minutes = 0;

	*ret_seconds = 0;
	*ret_has_zone = **next != '\0';
	if (!*ret_has_zone || skip(next, 'Z'))
		return true;
	if (!skip(next, '+') && !skip(next, '-'))
		return false;
	if (!read_digits(next, 2, &hours))
		return false;
	skip(next, ':');
	if (**next && !read_digits(next, 2, &minutes))
		return false;
	*ret_seconds = (hours * 60 + minutes) * 60 * (is_west ? -1 : 1);
	return hours < 24 && minutes < 60;
}

static bool parse_iso(const char *text, uint64_t *ret)
{
	struct tm tm = { .tm_isdst = -1 };
	uint64_t fraction = 0;
	bool has_zone = false;
	int offset = 0;
	time_t seconds;

	if (!read_date(&text, &tm))
		return false;
	if (*text && ((!skip(&text, 'T') && !skip(&text, ' ')) ||
		      !read_time(&text, &tm, &fraction) || !read_zone(&text, &has_zone, &offset)))
		return false;
	seconds = has_zone ? timegm(&tm) - offset : mktime(&tm);
	if (*text || seconds < 0 || (uint64_t)seconds > INT64_MAX / NS_PER_SECOND - 1)
		return false;
	*ret = (uint64_t)seconds * NS_PER_SECOND + fraction;
	return true;
}

/* The newest such time of day that is not after the end of the recording. */
static bool parse_time_of_day(const char *text, const struct history_span *extent, uint64_t *ret)
{
	time_t end = (time_t)(extent->to_unix_ns / NS_PER_SECOND), seconds;
	struct tm wanted = { 0 }, tm;
	uint64_t fraction;

	if (!read_time(&text, &wanted, &fraction) || *text)
		return false;
	for (int days = 0; days < 2; days++) {
		if (!localtime_r(&end, &tm))
			return false;
		tm.tm_mday -= days;
		tm.tm_hour = wanted.tm_hour;
		tm.tm_min = wanted.tm_min;
		tm.tm_sec = wanted.tm_sec;
		tm.tm_isdst = -1;
		seconds = mktime(&tm);
		if (seconds < 0)
			return false;
		*ret = (uint64_t)seconds * NS_PER_SECOND + fraction;
		if (*ret <= extent->to_unix_ns)
			break;
	}
	return true;
}

static bool parse_age(const char *text, const struct history_span *extent, uint64_t *ret)
{
	uint64_t age;

	if (!skip(&text, '-') || !parse_duration_ns(text, &age))
		return false;
	*ret = age < extent->to_unix_ns ? extent->to_unix_ns - age : 0;
	return true;
}

int instant_parse(const char *text, const struct history_span *extent, uint64_t *ret_unix_ns,
		  struct error *error)
{
	uint64_t instant = extent->to_unix_ns;

	if (!extent->to_unix_ns)
		return error_set(error, -ENOENT, "the recording has no ticks yet");
	if (strcmp(text, "latest") != 0 && !parse_age(text, extent, &instant) &&
	    !parse_time_of_day(text, extent, &instant) && !parse_iso(text, &instant))
		return error_set(error, -EINVAL,
				 "'@%s' is not a time: write @latest, @10:04, @10:04:31, @-5m or "
				 "@2024-05-01T10:04:31",
				 text);
	*ret_unix_ns = instant;
	return 0;
}

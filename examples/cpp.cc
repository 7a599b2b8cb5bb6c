/* SPDX-License-Identifier: MIT */
/*
 * Scopes in C++: the macro closes its scope also when an exception passes, a small class does the
 * same for labels that are made at run time, and std::thread needs nothing special.
 *
 *	cpp [RECORDS]
 *
 * Two threads parse records; every hundredth is broken.
 */
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <taskscope.h>

namespace
{

/* For labels that are no literals; they are copied, so the string may go. */
class Scope
{
public:
	explicit Scope(const std::string &label) : scope(taskscope_enter(label.c_str()))
	{
	}
	~Scope()
	{
		taskscope_leave(scope);
	}
	Scope(const Scope &) = delete;
	Scope &operator=(const Scope &) = delete;

private:
	taskscope_scope scope;
};

/* The same for a counter; any thread may advance it, the one that made it ends it. */
class Progress
{
public:
	Progress(const std::string &label, uint64_t total)
		: progress(taskscope_begin(label.c_str(), total))
	{
	}
	~Progress()
	{
		taskscope_end(&progress);
	}
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

	void advance(uint64_t steps = 1)
	{
		taskscope_advance(&progress, steps);
	}

private:
	taskscope_progress progress;
};

std::atomic<uint64_t> sum(0);

std::string make_record(uint64_t number)
{
	return number % 100 == 99 ? "broken" : std::to_string(number);
}

void parse(const std::string &record)
{
	TASKSCOPE("parse"); /* std::stoull() throws through it */

	sum += std::stoull(record);
}

/* Returns how many were broken. */
uint64_t parse_all(uint64_t first, uint64_t end, Progress &records)
{
	uint64_t broken = 0;

	for (uint64_t number = first; number < end; number++) {
		try {
			TASKSCOPE("record");
			parse(make_record(number));
		} catch (const std::invalid_argument &) {
			broken++; /* here the scopes inside are closed */
		}
		records.advance();
	}
	return broken;
}

} /* namespace */

int main(int count, char **words)
{
	const uint64_t total = count > 1 ? std::strtoull(words[1], nullptr, 10) : 1000000;
	const uint64_t half = total / 2;
	std::atomic<uint64_t> broken(0);

	taskscope_start(nullptr);
	{
		Progress records("records", total);
		std::vector<std::thread> threads;

		for (uint64_t part = 0; part < 2; part++)
			threads.emplace_back([&, part] {
				const std::string name = "parser-" + std::to_string(part);

				taskscope_thread(name.c_str());
				Scope scope("part " + std::to_string(part));
				broken += part ? parse_all(half, total, records) :
						 parse_all(0, half, records);
			});
		taskscope_idle(); /* this thread only waits: that is no stall */
		for (std::thread &thread : threads)
			thread.join();
	}
	std::cout << "sum " << sum << ", broken " << broken << "\n";
	return 0;
}

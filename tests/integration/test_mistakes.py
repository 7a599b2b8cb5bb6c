# SPDX-License-Identifier: MIT
"""A mistyped word is told with the word that may be meant; a file of another kind, with its verb."""
import os

import support


class Mistakes(support.TestCase):
    def test_a_mistyped_verb(self):
        for word, meant in [("shwo", "show"), ("captrue", "capture"), ("com", "compare"),
                            ("hlp", "help"), ("--verson", "--version")]:
            self.refuse(word, says=f"there is no verb '{word}'; did you mean {meant}?")
            self.refuse("help", word, says=f"did you mean {meant}?")
        self.refuse("frobnicate", says="`taskscope help` lists them")
        self.accept("help", "help")

    def test_a_mistyped_option(self):
        for verb, word, meant in [("show", "grup-by", "group-by"), ("show", "colums", "columns"),
                                  ("compare", "fail", "fail-on"), ("capture", "ouput", "output")]:
            self.refuse(verb, f"--{word}",
                        says=f"there is no option --{word}; did you mean --{meant}?")
        self.refuse("show", "--frobnicate", says="--help lists them")
        self.refuse("show", "-z", says="there is no option -z")
        status, _, err = support.run("run", "--ouput", "x.jsonl", "--", "true")
        self.assertEqual((status, "did you mean --output?" in err), (125, True), err)

    def test_mistyped_words_of_tables(self):
        path = self.path("x.tscope")
        for words, says in [
                (["show", "-s", "rss"], "there is no metric 'rss'; did you mean rss_bytes?"),
                (["show", "-m", "majflt,runtime_ns"], "did you mean run_time_ns?"),
                (["show", "-s", "grop"], "did you mean group?"),
                (["show", "--sections", "io,memry"], "'memry'; did you mean memory?"),
                (["show", "--columns", "group,metrc"], "'metrc'; did you mean metric?"),
                (["show", "-g", "procces"], "not 'procces'; did you mean process?"),
                (["show", "--format", "jsn"], "not 'jsn'; did you mean json?"),
                (["show", "--without", "stat,task_iteratr"], "did you mean task_iterator?"),
                (["capture", "-o", path, "--source", "bfp"], "not 'bfp'; did you mean bpf?"),
                (["compare", path, path, "-s", "rss:asc"], "did you mean rss_bytes?"),
                (["compare", path, path, "--sections", "primry"], "did you mean primary?"),
                (["compare", path, path, "--columns", "befor"], "did you mean before?"),
                (["compare", path, path, "--mode", "intervall"], "did you mean interval?"),
                (["compare", path, path, "--fail-on", "pcom=x majflt > 1"], "did you mean pcomm?"),
                (["compare", path, path, "--fail-on", "rss > 1"], "did you mean rss_bytes?")]:
            self.refuse(*words, says=says)

    def test_a_file_of_another_kind_is_known_by_its_content(self):
        run, snapshot = self.path("run.tscope"), self.path("snapshot.jsonl")
        status, _, err = support.run("run", "-o", self.path("run.jsonl"), "--", "true")
        self.assertEqual(status, 0, err)
        os.rename(self.path("run.jsonl"), run)
        self.accept("capture", "-q", "-p", os.getpid(), "-o", self.path("own.tscope"))
        os.rename(self.path("own.tscope"), snapshot)
        self.accept("show", run)
        self.accept("compare", run, run)
        self.refuse("compare", run, snapshot, says="cannot compare a run with a capture")
        self.refuse("compare", snapshot, run, says="cannot compare a run with a capture")
        self.refuse("report", snapshot, says="`taskscope show` shows it")
        self.refuse("show", "/etc/passwd", says="`taskscope capture -o NAME.tscope` writes one")
        self.accept("show", snapshot)
        self.accept("report", run)

    def test_a_number_is_taken_for_a_process(self):
        self.refuse("show", "12345678", says="write -p 12345678")


if __name__ == "__main__":
    support.main()

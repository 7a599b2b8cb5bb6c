# SPDX-License-Identifier: MIT
# fish completion for taskscope, which says what may follow; src/cli/complete.h describes its lines.
# They are data: nothing of them is evaluated, and fish quotes what is inserted.

function __taskscope_complete
	set -l given (commandline -opc)
	set -l word (commandline -ct)

	for line in (command taskscope --complete $given[2..-1] "$word" 2>/dev/null)
		set -l detail (string split ' ' -- $line)
		set -l keep ''
		set -l part "$word"

		if string match -qr '^!(files|directories) [1-9]' -- $line
			set keep (string sub -l $detail[2] -- $word)
			set part (string sub -s (math $detail[2] + 1) -- $word)
		end
		switch $line
			case '+*'
				string sub -s 2 -- $line
			case '!command *'
				set -l command (string escape -- $given[(math $detail[2] + 2)..-1]) "$word"
				complete -C "$command"
			case '!files *'
				set -l files (complete -C "__fish_command_without_completions $part")
				set -l fitting
				for ending in $detail[3..-1]
					set -a fitting (string match -- "*$ending" $files)
				end
				# Directories, and where no file has such an ending, all files.
				set -q fitting[1]; or set fitting $files
				for found in $fitting (string match -- '*/' $files)
					echo $keep$found
				end
			case '!directories *'
				for found in (__fish_complete_directories "$part")
					echo $keep$found
				end
		end
	end
end

complete -c taskscope -f -a '(__taskscope_complete)'

# SPDX-License-Identifier: MIT
# bash completion for taskscope, which says what may follow; src/cli/complete.h describes its lines.
#
# They are data: nothing of them is evaluated, and what is inserted is quoted.  bash splits words at
# "=" and ":" and replaces only what follows the last of them.  So the words are put together again
# for taskscope, and the replies are cut.

# Adds files with one of the endings, and directories; without endings or such files, all files.
_taskscope_files()
{
	local keep=$1 part=$2 ending found
	shift 2
	for ending in "${@:-}"; do
		while IFS= read -r found; do
			replies+=("$keep$found")
		done < <(compgen -f -X "!*$ending" -- "$part")
	done
	if (($#)); then
		((${#replies[@]})) || _taskscope_files "$keep" "$part"
		while IFS= read -r found; do
			replies+=("$keep$found")
		done < <(compgen -d -- "$part")
	fi
}

# Completes the command that begins at that word by its own completion, where there is one.
_taskscope_command()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

_taskscope()
{
	local -a words=() at=() replies=() detail=()
	local i word joins= line reply cut are_files=

	COMPREPLY=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ ${#words[@]} -gt 0 && ($joins || $word == [=:]) ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
			at+=("$i")
		fi
		[[ $word == [=:] ]] && joins=1 || joins=
	done
	word=${words[${#words[@]} - 1]}
	cut=${word%"${word##*[=:]}"}

	while IFS= read -r line; do
		read -ra detail <<<"$line"
		case $line in
		+*)
			line=${line#+}
			reply=${line%%$'\t'*}
			line=${line#*$'\t'}
			# What is only shown, and not inserted, may have a description: that of a process.
			if ((COMP_TYPE == 63)) && [[ $line && ${reply##*[,=]} != *[!0-9]* ]]; then
				reply+="  $line"
			fi
			replies+=("$reply")
			;;
		'!nospace')
			compopt -o nospace 2>/dev/null
			;;
		'!command '*)
			_taskscope_command "${at[detail[1]]}"
			return
			;;
		'!files '*)
			are_files=1
			_taskscope_files "${word:0:detail[1]}" "${word:detail[1]}" "${detail[@]:2}"
			;;
		'!directories '*)
			are_files=1
			mapfile -t replies < <(compgen -d -P "${word:0:detail[1]}" -- "${word:detail[1]}")
			;;
		esac
	done < <(command taskscope --complete "${words[@]}" 2>/dev/null)

	[[ $are_files ]] && compopt -o filenames 2>/dev/null
	for reply in "${replies[@]}"; do
		reply=${reply#"$cut"}
		if [[ ! $are_files && $COMP_TYPE != 63 && $reply == *[!A-Za-z0-9_.,:=@%+/-]* ]]; then
			printf -v reply %q "$reply"
		fi
		COMPREPLY+=("$reply")
	done
}
complete -F _taskscope taskscope

#compdef taskscope
# SPDX-License-Identifier: MIT
# zsh completion for taskscope, which says what may follow; src/cli/complete.h describes its lines.
# They are data: nothing of them is evaluated, and compadd quotes what is inserted.

_taskscope() {
	local line value
	local -a given values shown detail more

	given=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
	for line in "${(@f)$(command taskscope --complete "${given[@]}" 2>/dev/null)}"; do
		detail=(${(s: :)line})
		case $line in
		(+*)
			value=${${line#+}%%$'\t'*}
			line=${line#*$'\t'}
			values+=("$value")
			shown+=("$value${line:+  -- $line}")
			;;
		('!nospace')
			more=(-S '')
			;;
		('!command '*)
			shift $((detail[2] + 1)) words
			((CURRENT -= detail[2] + 1))
			_normal -p taskscope
			return
			;;
		('!files '*)
			compset -p $detail[2]
			if (($#detail > 2)); then
				_files -g "*(${(j:|:)detail[3,-1]})(-.)"
			else
				_files
			fi
			return
			;;
		('!directories '*)
			compset -p $detail[2]
			_files -/
			return
			;;
		esac
	done
	(($#values)) && compadd -l -d shown "${more[@]}" -a values
}

# Loaded as a function by compinit, or sourced.
if [[ $funcstack[1] == _taskscope ]]; then
	_taskscope "$@"
else
	compdef _taskscope taskscope
fi

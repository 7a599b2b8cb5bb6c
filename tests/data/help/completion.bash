# bash completion for taskscope
_taskscope()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=
	if [[ $current == = ]]; then
		current= previous+==
	elif [[ $previous == = ]]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}=
	fi
	if ((COMP_CWORD == 1)); then
		words="full bare runs help --help --version"
	else
	case ${COMP_WORDS[1]} in
	help) words="full bare runs" ;;
	full)
		case "$previous" in
		--output|-o|--output=) words="" ;;
		--root|--root=) words="" ;;
		--format|-f|--format=) words="text json" ;;
		--metrics|-m|--metrics=) words="majflt minflt" ;;
		--sections|-s|--sections=) words="io memory" ;;
		--limit|-n|--limit=) words="" ;;
		--interval|--interval=) words="" ;;
		--a-name-that-is-too-long|--a-name-that-is-too-long=) words="" ;;
		--no-normalize=) words="thread cgroup" ;;
		*) words="--all --quiet --output --root --format --metrics --sections --limit --interval --a-name-that-is-too-long --no-normalize " ;;
		esac ;;
	bare)
		case "$previous" in
		*) words="" ;;
		esac ;;
	runs)
		case "$previous" in
		*) words="" ;;
		esac ;;
	esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _taskscope taskscope

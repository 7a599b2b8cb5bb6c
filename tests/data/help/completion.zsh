#compdef taskscope
_taskscope() {
	if ((CURRENT == 2)); then
		compadd full bare runs help
		return
	fi
	local verb=$words[2]
	shift words
	((CURRENT--))
	case $verb in
	help) compadd full bare runs ;;
	full)
		_arguments \
			'(-a --all)'{-a,--all}'[everything\: \[all\] of it, it'\''s much]' \
			'--quiet[silent]' \
			'(-o --output)'{-o,--output}'[a file]:FILE:_files' \
			'--root[a directory]:DIR:_directories' \
			'(-f --format)'{-f,--format}'[a form]:FORMAT:(text json)' \
			'(-m --metrics)'{-m,--metrics}'[metrics]:LIST:(majflt minflt)' \
			'(-s --sections)'{-s,--sections}'[sections]:LIST:(io memory)' \
			'(-n --limit)'{-n,--limit}'[a number]:N:' \
			'--interval[a time]:TIME:' \
			'*--a-name-that-is-too-long[a glob]:GLOB:' \
			'*(-N --no-normalize)'{-N,--no-normalize}'=-[as it is]::NAMES:(thread cgroup)' \
			'*:file:_files' ;;
	bare)
		_arguments \
			'*:file:_files' ;;
	runs)
		_arguments \
			'*:file:_files' ;;
	esac
}
_taskscope "$@"

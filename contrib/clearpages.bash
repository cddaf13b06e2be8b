# SPDX-License-Identifier: GPL-2.0-only
# bash completion for clearpages

# The words of a list that have not been completed yet: "a,b" -> prefix "a,", word "b".
_clearpages_list() {
	local prefix=''
	[[ $cur == *,* ]] && prefix=${cur%,*},
	COMPREPLY=($(compgen -P "$prefix" -W "$1" -- "${cur##*,}"))
	compopt -o nospace 2>/dev/null
}

_clearpages_variants='stosb stosq mov avx2 avx512 memset movnti ntavx2 ntavx512 clzero'
_clearpages_policies='stock oneshot forward reverse extent ranges stream auto'

_clearpages_value() {
	case $prev in
	-p | --page) COMPREPLY=($(compgen -W '4K 64K 2M 1G' -- "$cur")) ;;
	-k | --chunk | --unit) _clearpages_list '4K 64K 2M 32M 1G' ;;
	-f | --function | --path)
		if [[ $kind == fault ]]; then
			_clearpages_list 'demand populate madvise touch-threads populate-parallel
				pager-signal pager-ahead pager-thread pool-eager pool-clean'
		else
			_clearpages_list "$_clearpages_variants"
		fi
		;;
	--policy) _clearpages_list "$_clearpages_policies" ;;
	--order) _clearpages_list 'forward right-first reverse narrow' ;;
	--use) _clearpages_list 'none first16K random write read' ;;
	--walk) COMPREPLY=($(compgen -W 'forward reverse random' -- "$cur")) ;;
	--touch) COMPREPLY=($(compgen -W 'first middle last random none' -- "$cur")) ;;
	--sysroot) COMPREPLY=($(compgen -d -- "$cur")) ;;
	policy)
		[[ $command == module ]] || return 1
		_clearpages_list "$_clearpages_policies"
		;;
	--timeout) ;;
	-s | --size | -l | --loops | -t | --threads | -r | --seed | --node | --cpus | --min-time) ;;
	*) return 1 ;;
	esac
}

_clearpages() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]-} kind='' common='--node --cpus --loops --seed --min-time
		--reserve --no-reserve --json --help'
	[[ $command == bench && $COMP_CWORD -gt 2 ]] && kind=${COMP_WORDS[2]}
	COMPREPLY=()
	_clearpages_value && return
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W 'bench list module populate status help --help --version' -- "$cur"))
	elif [[ $command == help ]]; then
		((COMP_CWORD > 2)) ||
			COMPREPLY=($(compgen -W 'bench list module populate status' -- "$cur"))
	elif [[ $command == populate ]]; then
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--clear --policy --threads --node --dry-run --json
				--help' -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
			compopt -o filenames 2>/dev/null
		fi
	elif [[ $command == list ]]; then
		COMPREPLY=($(compgen -W 'machine variants policies --sysroot --json --help' -- "$cur"))
	elif [[ $command == status ]]; then
		COMPREPLY=($(compgen -W '--sysroot --json --help' -- "$cur"))
	elif [[ $command == module ]] && ((COMP_CWORD == 2)); then
		COMPREPLY=($(compgen -W 'load unload policy --timeout --help' -- "$cur"))
	elif [[ $command == module ]]; then
		COMPREPLY=($(compgen -W '--timeout --help' -- "$cur"))
		[[ ${COMP_WORDS[2]} != load ]] || COMPREPLY+=($(compgen -f -X '!*.ko*' -- "$cur")
			$(compgen -W 'policy= budget_us= skip_zeroed= selftest_all=' -- "$cur"))
	elif [[ $kind == fault ]]; then
		COMPREPLY=($(compgen -W "$common --size --page --thp --path --policy --use --touch --walk
			--threads --shared --cycles" -- "$cur"))
	elif [[ $kind == clear ]]; then
		COMPREPLY=($(compgen -W "$common --size --page --thp --chunk --policy --function
			--order --unit --touch --threads --cycles" -- "$cur"))
	elif [[ $command == bench ]]; then
		COMPREPLY=($(compgen -W "fault clear $common" -- "$cur"))
	fi
}

complete -F _clearpages clearpages

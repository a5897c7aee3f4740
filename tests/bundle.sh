#!/bin/bash
# SPDX-License-Identifier: MIT
# bundle.sh VERSION FOLDER|FILE.tar.xz LIBRARY…: what "make bundle" makes, for machines that have
# neither LTTng nor root nor a network. What is installed here is copied, so that it is what was
# tested; of each library just the file that is loaded.
#
#   tftop		looks for its libraries in own/lib, as it is linked for that ($O/bundle/tftop)
#   lib			the LIBRARIES of the build folder, which programs load, and LTTng-UST
#   own		what tftop alone uses: LTTng's daemons with their schema, babeltrace,
#			libraries, descriptions of terminals
#   share/man, docs, licences
#
# The C library is not in it: that machine's is to be as new as this one's objects ask for
# (own/glibc says it, lib/ is counted with it).
set -u
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
MOST_MIB=18	# packed
die() { echo "bundle: $*" >&2; exit 1; }

# What the C library has is there everywhere, and so is libgcc_s: its packages ask for that.
of_libc='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|nsl|anl|gcc_s))\.so'
sources=()	# what is copied from the system

# put FILE NAME: without what only a debugger reads
put() {
	mkdir -p "$root/$(dirname "$2")" && cp -L "$1" "$root/$2" && chmod u+w "$root/$2" ||
		die "cannot copy '$1'"
	! readelf -h "$1" >/dev/null 2>&1 || strip --strip-unneeded "$root/$2" ||
		die "cannot strip '$1'"
	case $1 in "$O"/*) ;; *) sources+=("$1") ;; esac
}

# What programs come to load, by full names.
loaded() {
	ldd "$@" 2>/dev/null | sed -n 's/^\t[^ ]* => \(\/[^ ]*\) (0x.*/\1/p' | sort -u |
		while read -r path; do
			[[ ${path##*/} =~ $of_libc || ${path##*/} = libtftop* ]] || echo "$path"
		done
}

# LTTng's and babeltrace's files.
find_parts() {
	local path
	consumer=$(ls -d /usr{,/local}/lib{,64}{,/*}/lttng/libexec/lttng-consumerd 2>/dev/null | head -n 1)
	schema=$(ls -d /usr{,/local}/share/xml/lttng/session.xsd 2>/dev/null | head -n 1)
	plugins=$(pkg-config --variable=libdir babeltrace2 2>/dev/null)/babeltrace2/plugins
	daemons=("$(command -v lttng-sessiond)" "$(command -v lttng-relayd)")
	[ -n "${daemons[0]}" ] && [ -n "${daemons[1]}" ] && [ -n "$consumer" ] && [ -n "$schema" ] ||
		die "LTTng is not installed here, which is to be in the bundle: run 'make deps'"
	for path in "$plugins"/babeltrace-plugin-{ctf,utils}.so; do
		[ -e "$path" ] || die "babeltrace is not installed here ('$path'): run 'make deps'"
	done
	for path in "$O/bundle/tftop" "$@"; do
		[ -e "$path" ] || die "'$path' is not built: run 'make bundle', which builds it"
	done
}

put_own() {
	local path name
	for path in "${daemons[@]}" "$consumer"; do
		put "$path" "own/bin/${path##*/}"
	done
	for name in ctf utils; do
		put "$plugins/babeltrace-plugin-$name.so" "own/lib/babeltrace2/babeltrace-plugin-$name.so"
	done
	put "$schema" own/share/xml/lttng/session.xsd
	while read -r path; do
		case ${path##*/} in
		libicu*.so.* | libstdc++.so.*) ;;	# see put_no_icu
		*) put "$path" "own/lib/${path##*/}" ;;
		esac
	done < <(loaded "${daemons[@]}" "$consumer" "$plugins"/babeltrace-plugin-{ctf,utils}.so \
		"$O/bundle/tftop")
	for path in /lib/terminfo /usr/share/terminfo; do
		[ ! -d "$path" ] || { mkdir -p "$root/own/share" && cp -aL "$path" "$root/own/share/"; } ||
			die "cannot copy '$path'"
		[ -d "$root/own/share/terminfo/x" ] && break
	done
	[ -e "$root/own/share/terminfo/x/xterm-256color" ] ||
		die "no description of xterm-256color is installed here: install ncurses-base"
}

# libxml2 converts with ICU what is in another encoding than UTF-8, which sessiond's schema and
# descriptions never are. ICU would make the bundle three times as large, and its libstdc++ ask for
# a newer C library than all else. So there is one in its place that knows no encoding.
put_no_icu() {
	local soname
	soname=$(readelf -d "$root/own/lib/libxml2.so.2" | sed -n 's/.*(NEEDED).*\[\(libicuuc.*\)\]/\1/p')
	[ -n "$soname" ] || return 0
	nm -D "$root/own/lib/libxml2.so.2" |
		sed -nE 's/^ +U (ucnv_open_[0-9]+)$/void *\1(const char *name, int *error) { (void)name; *error = 4; return 0; }/p
			/ucnv_open_/!s/^ +U ((ucnv|UCNV|u)_[A-Za-z_]+_[0-9]+)$/void \1(void) { }/p' >"$work/icu.c"
	${CC:-cc} -w -O2 -fPIC -shared -Wl,-soname,"$soname" -o "$root/own/lib/$soname" "$work/icu.c" ||
		die "cannot make a library in place of '$soname'"
	! LD_LIBRARY_PATH=$root/own/lib ldd -r "$root/own/lib/libxml2.so.2" 2>&1 | grep -q undefined ||
		die "libxml2 wants more of ICU than is known here"
}

# LTTng-UST gets a libnuma under a name of its own: a program that loads libnuma later would be
# given ours, which may be older than its own. Both names have 12 letters.
put_probes() {
	local path ust
	for path in "$@"; do
		put "$path" "lib/${path##*/}"
	done
	while read -r path; do
		case ${path##*/} in
		liblttng-ust*) put "$path" "lib/${path##*/}" ;;
		libnuma.so.1) put "$path" lib/libnumatf.so ;;
		*) die "the probes need '$path', which is neither LTTng-UST's nor the C library's" ;;
		esac
		[[ $path != */liblttng-ust.so.* ]] || ust=$path
	done < <(loaded "$O/lib/libtftop-runtime.so")
	# loaded by name
	path=${ust%/*}/liblttng-ust-tracepoint.so.1
	[ -e "$path" ] || die "LTTng-UST lacks '$path'"
	put "$path" "lib/${path##*/}"
	perl -pi -e 's/libnuma\.so\.1\0/libnumatf.so\0/g' "$root"/lib/lib{lttng-ust,numatf}* ||
		die "cannot rename libnuma"
}

# The licence of each file that is copied, by the package that it comes from.
put_licences() {
	local path package
	mkdir "$root/licences"
	cp LICENSE "$root/licences/tftop" || exit 1
	for path in "${sources[@]}" /lib/terminfo/x/xterm; do
		path=$(realpath "$path")
		package=$(dpkg-query -S "$path" "${path#/usr}" "/usr$path" 2>/dev/null |
			head -n 1 | cut -d: -f1)
		[ -n "$package" ] && [ -e "/usr/share/doc/$package/copyright" ] ||
			die "no licence was found of '$path'"
		cp -L "/usr/share/doc/$package/copyright" "$root/licences/$package" || exit 1
	done
}

# Each name that a file asks for is there, and no program is given anything else.
check() {
	local file name bad=0
	while read -r file; do
		for name in $(readelf -d "$file" 2>/dev/null |
			sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
			[[ $name =~ $of_libc ]] && continue
			case $file in
			"$root"/lib/*) [ -e "$root/lib/$name" ] ;;
			*) [ -e "$root/own/lib/$name" ] ;;
			esac || { echo "bundle: '${file#"$root/"}' needs '$name'" >&2; bad=1; }
		done
	done < <(find "$root/tftop" "$root/lib" "$root/own/bin" "$root/own/lib" -type f)
	return $bad
}

glibc_of() {
	find "$@" -type f -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' |
		sort -Vu | tail -n 1 | sed 's/GLIBC_//'
}

[ $# -ge 3 ] || die "name a version, a folder or a file that ends in .tar.xz, and the probes"
version=$1 to=$2
shift 2
find_parts "$@"
work=$(mktemp -d "${TMPDIR:-/tmp}/tftop-bundle.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
root=$work/tftop-$version
mkdir "$root" || exit 1
put "$O/bundle/tftop" tftop
put_own
put_no_icu
put_probes "$@"
mkdir -p "$root/share/man/man1" "$root/share/man/man5" "$root/docs" &&
	cp docs/tftop.1 "$root/share/man/man1/" && cp docs/tftoprc.5 "$root/share/man/man5/" &&
	cp docs/*.md "$root/docs/" && cp README.md "$root/" || exit 1
put_licences
check || exit 1
glibc_of "$root" >"$root/own/glibc"
in_program=$(glibc_of "$root/lib")
chmod -R u+rwX,go=rX "$root"
case $to in
*.tar.xz)
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -c "tftop-$version" |
		XZ_OPT=${XZ_OPT:--9} xz -T0 >"$to.new" || die "cannot write '$to'"
	[ "$(stat -c %s "$to.new")" -le $((MOST_MIB << 20)) ] ||
		{ rm -f "$to.new"; die "it takes more than $MOST_MIB MiB"; }
	mv "$to.new" "$to" || exit 1 ;;
*)
	[ ! -e "$to" ] || die "'$to' is there already"
	mv "$root" "$to" || exit 1 ;;
esac
echo "$to: $(du -sm "$to" | cut -f1) MiB, for glibc $(cat "$root/own/glibc" 2>/dev/null ||
	cat "$to/own/glibc") or later ($in_program inside of a program)"

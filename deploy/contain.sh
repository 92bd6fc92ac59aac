# Runs a command in a root folder, within namespaces of its own: contain ROOT USER:GROUP
# [COMMAND…]. Without a command it says by its exit status whether that can be done.
set -e
root=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
[ $# = 0 ] || exec env -u PATH "$(command -v chroot)" --userspec="$user" "$root" "$@"

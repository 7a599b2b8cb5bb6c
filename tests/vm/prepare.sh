# SPDX-License-Identifier: MIT
# Read by the jobs: counters that are off by default on, and some processes to look at, all asleep.
# Leaves the pid of the workload in $workload and those of the others in $others.
sysctl -w kernel.sched_schedstats=1 kernel.task_delayacct=1
echo 'worker:x:1000:1000::/:/bin/sh' >/etc/passwd
echo 0123456789abcdef0123456789abcdef >/etc/machine-id

for controller in cpu cpuset io memory pids; do
	echo +$controller >/sys/fs/cgroup/cgroup.subtree_control
done
mkdir /sys/fs/cgroup/workload.slice '/sys/fs/cgroup/odd: name.slice'
mkfifo /tmp/end
sh -c 'echo $$ >/sys/fs/cgroup/workload.slice/cgroup.procs; exec workload </tmp/end >/out/workload' &
workload=$!
exec 3>/tmp/end

# Three of another user in a cgroup with an awkward path; the last one never waits for its child.
others=
for command in 'exec sleep 1000' 'exec sleep 2000' 'true & exec sleep 3000'; do
	su -c "$command" worker &
	echo $! >'/sys/fs/cgroup/odd: name.slice/cgroup.procs'
	others="$others $!"
done

for i in $(seq 100); do
	grep -q ready /out/workload && break
	usleep 100000
done
# Until every thread is asleep, and whatever else booting stirred up.
sleep 1
others="$others $(grep -l '^State:.Z' /proc/[0-9]*/status | cut -d/ -f3)"

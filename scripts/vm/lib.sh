# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Functions that boot, query and stop the VM. Sourced by scripts/vm/run, after common.sh.
#
# A VM has a run directory: config (its options), pid, console.log, and the sockets and locks of
# its ports.

vm_exec=$COSY_BUILD/bin/cosy-vm-exec
vm_agent=$COSY_BUILD/bin/cosy-vm-agent

# vm_kernel_dir SERIES - print the directory of a kernel that setup has fetched.
vm_kernel_dir() {
	local dir=$COSY_BUILD/kernel/$1
	[[ -f $dir/release ]] ||
		HINT="get it with: ./cosy setup $1" die "there is no kernel $1 in $COSY_BUILD/kernel"
	echo "$dir"
}

# vm_initramfs DIR SERIES SHARE... - build DIR/initramfs: the agent as init, the modules for
# access to the host's files, and the directories to mount.
vm_initramfs() {
	local dir=$1 kernel n=0 path share
	local -a depends
	kernel=$(vm_kernel_dir "$2")
	shift 2

	if [[ ! -d $kernel/vm-modules ]]; then
		rm -rf "$kernel/vm-modules.new"
		mkdir "$kernel/vm-modules.new"
		mapfile -t depends < <(for path in virtio_pci virtio_console 9pnet_virtio 9p; do
			PATH=$PATH:/sbin:/usr/sbin modprobe -d "$kernel/root" -S "$(<"$kernel/release")" \
				--show-depends "$path" | awk '$1 == "insmod" { print $2 }'
		done | awk '!seen[$0]++')
		for path in "${depends[@]}"; do
			printf -v share '%s/%02d-%s' "$kernel/vm-modules.new" $((n++)) "$(basename "${path%.xz}")"
			case $path in
			*.xz) xz -dc "$path" >"$share" ;;
			*) cp "$path" "$share" ;;
			esac
		done
		mv "$kernel/vm-modules.new" "$kernel/vm-modules"
	fi

	rm -rf "$dir/initramfs.d"
	mkdir "$dir/initramfs.d"
	cp "$vm_agent" "$dir/initramfs.d/init"
	cp -r "$kernel/vm-modules" "$dir/initramfs.d/modules"
	n=0
	for share; do
		echo "share$n $share"
		n=$((n + 1))
	done >"$dir/initramfs.d/shares"
	(cd "$dir/initramfs.d" && find . | cpio --quiet -o -H newc -R 0:0) >"$dir/initramfs"
	rm -r "$dir/initramfs.d"
}

# vm_accelerators - print the accelerators to try, best first. An accelerator that has failed on
# this kernel is not tried again.
vm_accelerators() {
	if [[ -w /dev/kvm && ! -e $COSY_BUILD/vm/no-kvm-$(uname -r) ]]; then
		echo kvm
	fi
	echo tcg
}

# vm_boot - boot a VM and wait until it answers. The caller sets its properties in these
# variables:
: "${vm_dir:=}"			# its run directory
: "${vm_series:=$COSY_KERNEL}"	# its kernel
: "${vm_smp:=2}" "${vm_memory:=2G}" "${vm_append:=}"
: "${vm_icount:=}"		# yes: count instructions
: "${vm_lines:=}"		# append counts of shared lines to this file
# yes: TCG emulates all CPUs in one thread. With several, QEMU 7.2 may keep its translation of an
# instruction that another CPU has just changed. A kernel that patches its code for each module that
# is loaded then executes a breakpoint that it has removed, for ever.
: "${vm_one_thread:=}"
: "${vm_persistent:=}"		# yes: it continues after this script
if ! declare -p vm_shares >/dev/null 2>&1; then
	vm_shares=("$COSY_ROOT")	# directories that it may write to
fi
vm_boot() {
	local accelerator try
	mkdir -p "$vm_dir"
	vm_initramfs "$vm_dir" "$vm_series" "${vm_shares[@]}"
	for accelerator in $(vm_accelerators); do
		[[ $accelerator == kvm && -n $vm_icount ]] && continue
		# QEMU's TCG sometimes crashes a kernel while it patches itself at boot, on
		# several CPUs, or is so slow that the kernel disables a CPU. That is not a fault
		# of the module, so the boot is repeated.
		for try in 1 2 3; do
			vm_start_qemu "$accelerator"
			if vm_wait "$accelerator" && vm_has_cpus; then
				vm_configure "$accelerator"
				return
			fi
			vm_kill
			cp "$vm_dir/console.log" "$COSY_BUILD/vm/failed-boot-$accelerator-$try.log"
			[[ $accelerator == kvm ]] && break
		done
		if [[ $accelerator == kvm ]]; then
			: >"$COSY_BUILD/vm/no-kvm-$(uname -r)"
			warn "KVM cannot run this kernel here; going on with emulation, which is slower"
		fi
	done
	tail -n 30 "$vm_dir/console.log" "$vm_dir/qemu.log" >&2
	die "the VM does not boot"
}

# shellcheck disable=SC2054 # the commas are QEMU's
vm_start_qemu() {
	local kernel share n=0 i
	local -a qemu launcher=()
	kernel=$(vm_kernel_dir "$vm_series")
	local security=none
	if ((EUID == 0)); then
		security=passthrough
	fi

	# no_timer_check: on a busy host emulated timers are late, and the kernel would consider
	# them broken.
	qemu=(qemu-system-x86_64 -name cosy-vm -nodefaults -no-user-config -no-reboot
		-display none -serial file:console.log -pidfile pid
		-m "$vm_memory" -kernel "$kernel/vmlinuz" -initrd initramfs
		-append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check log_buf_len=4M $vm_append"
		-fsdev "local,id=root,path=/,readonly=on,security_model=$security,multidevs=remap"
		-device virtio-9p-pci,fsdev=root,mount_tag=root
		-device virtio-serial-pci,max_ports=16)
	# Kernels built here have no ACPI. They read the BIOS's MP table, which lists one CPU per
	# socket.
	local smp=$vm_smp
	if [[ $(<"$kernel/release") == *-cosy-* ]]; then
		smp+=",sockets=$vm_smp"
	fi
	if [[ -n $vm_icount ]]; then
		qemu+=(-icount shift=0,sleep=off -accel tcg,thread=single -smp "$smp")
	else
		local accel=$1
		if [[ $1 == tcg ]]; then
			accel+=,thread=$([[ $vm_one_thread ]] && echo single || echo multi)
		fi
		qemu+=(-accel "$accel" -smp "$smp")
	fi
	if [[ -n $vm_lines ]]; then
		qemu+=(-plugin "$COSY_BUILD/scripts/vm/cosy-vm-lines.so,out=${vm_lines//,/,,}")
	fi
	if [[ $1 == tcg ]]; then
		# TCG emulates `rep movsb` and `rep stosb` byte by byte, each of which counts as an
		# instruction. So the kernel must not consider them fast. Only newer versions of QEMU
		# have the last three flags, and set them.
		local cpu=max feature features
		features=" $(qemu-system-x86_64 -cpu help | tr -s '[:space:]' ' ') "
		for feature in erms fsrm fzrm fsrs fsrc; do
			if [[ $features == *" $feature "* ]]; then
				cpu+=,$feature=off
			fi
		done
		# After cmpxchg16b the flags of QEMU 7.2 contain a part of a pointer. An interrupt
		# at that moment causes a double fault. Slab allocations work without it. With
		# --icount it remains enabled, because it is part of the measured work. Kernels
		# 7.* seldom execute it, and have no BPF arenas without it.
		if [[ -z $vm_icount && $(<"$kernel/release") != 7.* ]]; then
			cpu+=,cx16=off
		fi
		qemu+=(-cpu "$cpu")
	else
		qemu+=(-cpu host)
	fi
	for share in "${vm_shares[@]}"; do
		qemu+=(-fsdev "local,id=share$n,path=${share//,/,,},security_model=$security,multidevs=remap"
			-device "virtio-9p-pci,fsdev=share$n,mount_tag=share$n")
		n=$((n + 1))
	done
	for ((i = 0; i < 8; i++)); do
		qemu+=(-chardev "socket,id=port$i,path=port.$i,server=on,wait=off"
			-device "virtserialport,chardev=port$i,name=cosy.$i")
	done

	if [[ -n $vm_persistent ]]; then
		launcher=(setsid)
	else
		launcher=(setpriv --pdeathsig KILL --)
	fi
	rm -f "$vm_dir"/{pid,port.*,console.log}
	: >"$vm_dir/console.log"
	# Relative paths, because those of sockets are limited to 107 bytes.
	(cd "$vm_dir" && exec "${launcher[@]}" "${qemu[@]}") </dev/null >"$vm_dir/qemu.log" 2>&1 &
	vm_qemu=$!
}

# An answer of the VM takes less, also of an emulated one on a busy host.
vm_answer_seconds=600

# vm_wait ACCELERATOR - wait until the VM answers; fail if it died or takes too long.
vm_wait() {
	while [[ ! -S $vm_dir/port.7 ]]; do
		kill -0 "$vm_qemu" 2>/dev/null || return 1
		sleep 0.05
	done
	# With KVM the boot takes seconds.
	"$vm_exec" --vm "$vm_dir" --wait "$([[ $1 == kvm ]] && echo 30 || echo $vm_answer_seconds)" -C / true \
		</dev/null >>"$vm_dir/qemu.log" 2>&1
}

# vm_has_cpus - return 0 if the VM's kernel has started all its CPUs. On one CPU a test of two
# threads would pass without testing anything.
vm_has_cpus() {
	local found
	found=$("$vm_exec" --vm "$vm_dir" -T $vm_answer_seconds -C / nproc </dev/null) || return
	[[ $found == "$vm_smp" ]] || {
		warn "the VM has $found of $vm_smp CPUs"
		return 1
	}
}

# vm_configure ACCELERATOR - make settings in the booted VM.
vm_configure() {
	local kernel
	kernel=$(vm_kernel_dir "$vm_series")
	printf '#!/bin/sh\nexec /sbin/modprobe -d "%s" "$@"\n' "$kernel/root" >"$vm_dir/modprobe"
	chmod +x "$vm_dir/modprobe"
	{
		echo "kernel=$(<"$kernel/release")"
		echo "accelerator=$1"
		echo "icount=${vm_icount:-no}"
	} >"$vm_dir/config"
	# vm_check_kernel checks the kernel's messages from here on; they stay on the console.
	# shellcheck disable=SC2016 # the expansions are the guest's
	"$vm_exec" --vm "$vm_dir" -T $vm_answer_seconds -C / sh -c '
		echo "$1" >/proc/sys/kernel/modprobe
		dmesg -n 7
		# KCSAN is off until now, because it makes the boot several times slower.
		if [ -e /sys/kernel/debug/kcsan ]; then
			echo on >/sys/kernel/debug/kcsan || exit
		fi
		echo "cosy-vm: ready" >/dev/kmsg
		if [ -n "$2" ]; then
			# In the first seconds the kernel is busy with work from the boot.
			while read -r up rest </proc/uptime && [ "${up%%.*}" -lt 10 ]; do sleep 1; done
		fi' sh "$vm_dir/modprobe" "$vm_icount" </dev/null
}

# vm_load_module - load the module built for the VM's kernel.
vm_load_module() {
	local module
	module=$(vm_kernel_dir "$vm_series")/cosy.ko
	[[ -f $module ]] ||
		HINT="build it with ./cosy build, or boot with --no-module" die "there is no $module"
	"$vm_exec" --vm "$vm_dir" -T $vm_answer_seconds -C / /sbin/insmod "$module" </dev/null || {
		vm_messages | tail -n 20 >&2
		die "the module does not load in the VM (the kernel's last messages are above)"
	}
}

# vm_messages - print the messages of the VM's kernel since boot.
vm_messages() {
	"$vm_exec" --vm "$vm_dir" --wait 20 -T 60 -C / dmesg </dev/null 2>/dev/null | awk '
		{ line[NR] = $0 }
		/cosy-vm: ready$/ { start = NR }
		END { for (i = start + 1; i <= NR; i++) print line[i] }'
}

# Messages that a healthy kernel never prints.
vm_trouble='BUG:|WARNING:|Oops|general protection fault[,:]|stack segment:|double fault|Kernel panic'
vm_trouble+='|[Uu]nable to handle|invalid opcode:|scheduling while atomic|sleeping function called'
vm_trouble+='|possible recursive locking|circular locking|inconsistent lock state|held lock freed'
vm_trouble+='|suspicious RCU usage|KASAN|KCSAN|UBSAN|KFENCE|soft lockup|hard LOCKUP|rcu.*stall'
vm_trouble+='|blocked for more than|refcount_t:|list_(add|del) corruption|Bad page|bad: scheduling'
vm_trouble+='|Call Trace:|leaked|voluntary context switch within RCU|preempt_count|not syncing'

# vm_without_oom - omit messages that look like faults when a cgroup, not the machine, has run out
# of memory.
vm_without_oom() {
	awk '
		/invoked oom-killer:/ { oom = 1 }
		oom && /Call Trace:/ { trace = $0; next }
		/oom-kill:constraint=/ {
			if (trace && !/CONSTRAINT_MEMCG/)
				print trace
			oom = 0
			trace = ""
		}
		{ print }
		END { if (trace) print trace }'
}

# vm_without_other_races - omit the titles of KCSAN reports that name no function of the module,
# because the kernel has data races of its own.
vm_without_other_races() {
	awk '!/BUG: KCSAN: / || /\[cosy\]/'
}

# vm_check_kernel - fail if the VM's kernel has printed such a message, and print it.
vm_check_kernel() {
	local messages tainted
	messages=$(vm_messages | vm_without_oom | vm_without_other_races)
	tainted=$("$vm_exec" --vm "$vm_dir" --wait 20 -T 60 -C / cat /proc/sys/kernel/tainted </dev/null 2>/dev/null) || {
		tail -n 40 "$vm_dir/console.log" >&2
		warn "the VM's kernel is dead (the end of its console is above)"
		return 1
	}
	# 128: oops, 512: warning, 16384: soft lockup - even if their text has been overwritten.
	if grep -qE "$vm_trouble" <<<"$messages" || ((tainted & (128 | 512 | 16384))); then
		grep -E -B 5 -A 40 "$vm_trouble" <<<"$messages" | head -n 200 >&2
		warn "the VM's kernel complained (tainted=$tainted, text above)"
		return 1
	fi
}

# vm_running - return 0 if the VM of vm_dir runs. A copy of a build directory has the pid of the original's VM,
# which must not be ended.
vm_running() {
	local pid
	[[ -f $vm_dir/pid ]] && pid=$(<"$vm_dir/pid") && [[ -n $pid ]] && kill -0 "$pid" 2>/dev/null &&
		grep -qs cosy-vm "/proc/$pid/cmdline" && [[ $vm_dir -ef /proc/$pid/cwd ]]
}

# vm_watch - end the VM if it does not answer any more. An emulated CPU may execute the same
# instruction for ever (see vm_one_thread); then nothing in the VM ends the command.
vm_watch() {
	# The sleep may outlive this function, and keeps no pipe of a test open.
	while sleep 30 >/dev/null 2>&1 && vm_running; do
		"$vm_exec" --vm "$vm_dir" --wait $vm_answer_seconds -T $vm_answer_seconds -C / true \
			</dev/null >/dev/null 2>&1 && continue
		vm_running || return 0
		warn "the VM has not answered for $vm_answer_seconds seconds: ending it"
		vm_kill
	done
}

# vm_died_of_emulation - return 0 if QEMU is the reason for the end of the VM. QEMU's TCG
# sometimes executes, on another CPU, a breakpoint that the kernel has inserted into its code and
# has already removed. Or QEMU itself crashed, and the kernel printed nothing.
vm_died_of_emulation() {
	local said
	! vm_running || return 1
	grep -q '^accelerator=tcg$' "$vm_dir/config" || return 1
	said=$(sed -n '/cosy-vm: ready/,$p' "$vm_dir/console.log")
	! grep -qE "$vm_trouble" <<<"$said" || grep -E "$vm_trouble" <<<"$said" | head -n 1 | grep -q 'int3: 0000'
}

vm_kill() {
	local pid=${vm_qemu:-} i
	if [[ -z $pid ]] && vm_running; then
		pid=$(<"$vm_dir/pid")
	fi
	if [[ -n $pid ]]; then
		kill "$pid" 2>/dev/null || true
		# A QEMU that waits for one of its own threads ignores SIGTERM.
		for ((i = 0; i < 200; i++)); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.05
		done
		kill -KILL "$pid" 2>/dev/null || true
		while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	fi
	vm_qemu=
}

# vm_stop - write shared files back, and end the VM.
vm_stop() {
	"$vm_exec" --vm "$vm_dir" --wait 10 -T 30 -C / sync </dev/null >/dev/null 2>&1 || true
	vm_kill
	rm -f "$vm_dir"/port.* "$vm_dir/pid"
}

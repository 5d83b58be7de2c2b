//! A script that the shell, `tc` and the kernel accept, and a faulty variant for each check.

use super::*;

const GOOD: &str = "#!/bin/sh\nip link set eth0 up\ntc qdisc replace dev eth0 parent root handle 100 taprio \\\n  \
    num_tc 3 map 2 2 1 0 2 2 2 2 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 \\\n  base-time 1000 \\\n  \
    sched-entry S 01 300000 \\\n  sched-entry S 06 200000 clockid CLOCK_TAI # the rest\n";

#[test]
fn a_command_of_the_manual_reads() {
    let all = parse(GOOD).unwrap();
    let [list] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((list.interface.as_str(), list.line, list.base_ns), ("eth0", 3, 1_000));
    let states: Vec<(u8, u64)> = list.states.iter().map(|state| (state.gates, state.interval_ps)).collect();
    // Bits are priorities. The `map` of the script gives class 0 to priority 3, and class 1 or 2 to all others.
    assert_eq!(states, [(0b0000_1000, 300_000_000), (0b1111_0111, 200_000_000)]);
}

#[test]
fn hold_and_release_are_read() {
    assert!(!parse(GOOD).unwrap()[0].holds);
    let held = parse(&GOOD.replace("S 01", "H 01").replace("S 06", "R 06")).unwrap();
    assert!(held[0].holds);
    assert_eq!(held[0].states, parse(GOOD).unwrap()[0].states);
}

#[test]
fn scripts_of_equal_effect_give_equal_gates() {
    let plain = parse(GOOD).unwrap();
    let same = |text: String| {
        let read = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let gates: Vec<_> = read.iter().map(|list| (&list.interface, list.base_ns, &list.states)).collect();
        let expected: Vec<_> = plain.iter().map(|list| (&list.interface, list.base_ns, &list.states)).collect();
        assert_eq!(gates, expected, "{text}");
    };
    same(GOOD.replace("#!/bin/sh\n", "#!/usr/bin/env bash\nset -e\n"));
    same(GOOD.replace("tc qdisc", "sudo -n tc qdisc"));
    same(GOOD.replace("tc qdisc", "sudo -u root tc -s qdisc"));
    same(GOOD.replace("tc qdisc replace", "tc -n a q r").replace("ip link", "ip -n a link"));
    same(
        GOOD.replace(
            "ip link",
            "command -v tc > /dev/null || exit 1\necho tc of eth0\ntc class show dev eth0\nip link",
        ),
    );
    same(GOOD.replace("ip link", "exec 2>>log\nip link"));
    same(GOOD.replace("tc qdisc", "exec tc qdisc") + "tc qdisc del dev eth0 root\n");
    same(GOOD.replace("ip link", "LOG='my log'\nip link").replace(" # the rest", " > \"$LOG\" 2>'f' < \"/dev/null\""));
    same(GOOD.replace("ip link", "export \"DEV=eth0\" N=3\nip link").replace("dev eth0", "dev $DEV"));
    same(GOOD.replace("tc qdisc", "ip netns exec a /sbin/tc qdisc").replace("eth0 up", "netns a"));
    same(
        GOOD.replace("#!/bin/sh\n", "DEV=eth0\nexport N='3'; T=\"1000\"\n")
            .replace("dev eth0", "dev $DEV")
            .replace("num_tc 3", "num_tc ${N}")
            .replace("base-time 1000", "base-time \"$T\""),
    );
    same(
        GOOD.replace("sched-entry S 01 300000", "$ENTRIES")
            .replace("#!/bin/sh\n", "ENTRIES=\"sched-entry S 01 300000\"\n"),
    );
    same(GOOD.replace(" # the rest", " > /dev/null 2>&1"));
    same(GOOD.replace(" # the rest", " 2>/dev/null || true"));
    same(GOOD.replace("tc qdisc", "tc qdisc del dev eth0 root 2> /dev/null; tc qdisc"));
    same(GOOD.replace("tc qdisc", "tc qdisc add dev eth1 root handle 1: htb default 1 && tc qdisc"));
    same(GOOD.replace("clockid CLOCK_TAI", "flags 0x2"));
    same(GOOD.replace(" # the rest", " || true # the rest; of `it`"));
    same(GOOD.replace(" # the rest", " || exit 1\t# the rest"));
    same(GOOD.replace("ip link set eth0 up\n", "A=1 && modprobe sch_taprio && sudo ip link set eth0 up && "));
    same(GOOD.replace("ip link set eth0 up\n", "test -e f && echo yes\n"));
    same(GOOD.to_owned() + "tc qdisc replace dev eth0 parent 100:1 pfifo limit 100\n");
    same(GOOD.to_owned() + "tc qdisc del dev eth0 parent 100:1 handle 8: netem\n");
    same(GOOD.to_owned() + "tc qdisc add dev eth1 parent 100:1 netem loss 50%\n");
    same(GOOD.replace("S 01 300000", "S '0x01' \"300000\""));
    same(GOOD.replace("base-time 1000", "cycle-time 500000 base-time 1000"));
    // The example of the manual page of tc-taprio starts in 2018.
    let day = parse(&GOOD.replace("base-time 1000", "base-time 1528743495910289987")).unwrap();
    assert_eq!(day[0].base_ns, 1_528_743_495_910_289_987);
    same(format!("{GOOD}exit 0\ntc qdisc del dev eth0 root\n"));
    same(GOOD.replace("# the rest", "# the rest; and `more` $of (it)"));
    same(GOOD.replace(" \\\n", " "));
}

#[test]
fn hostile_commands_are_refused_with_their_line() {
    let rows = [
        ("sched-entry S 06", "sched-entry T 06", "line 7: `sched-entry T`: S sets gates, H and R"),
        ("sched-entry S 06", "sched-entry S zz", "line 7: `zz` is no mask"),
        ("06 200000", "06 -1", "line 7: `sched-entry` is `-1`, expected a whole number of at most 4294967295"),
        ("06 200000", "06 4294967296", "line 7: `sched-entry` is `4294967296`, expected a whole number"),
        ("06 200000", "06 0", "line 7: `sched-entry` of 0 ns"),
        ("06 200000", "06 2147483647", "line 6: the intervals of `eth0` add up to 2147783647 ns, and the kernel"),
        ("06 200000 clockid CLOCK_TAI", "06", "line 7: `sched-entry` lacks an interval"),
        ("num_tc 3", "num_tc 2", "line 4: `map` names class 2, and `num_tc` is 2"),
        ("num_tc 3 ", "", "line 3: `num_tc` is missing"),
        ("num_tc 3", "num_tc 3 num_tc 3", "line 4: duplicate `num_tc`"),
        ("queues 1@0 1@1 2@2", "", "line 3: `queues` is missing"),
        ("queues 1@0 1@1 2@2", "queues 1@0 1@1", "line 3: `queues` has 2 classes, and `num_tc` is 3"),
        ("queues 1@0 1@1 2@2", "queues 1@0 2@1 2@2", "line 3: `queues`: each class needs queues"),
        ("queues 1@0 1@1 2@2", "queues 1@0 1@1 0@2", "line 3: `queues`: each class needs queues"),
        ("base-time 1000", "base-tim 1000", "line 5: `base-tim` is no word of taprio"),
        ("base-time 1000", "base-time -1000", "line 5: `base-time` is `-1000`, expected"),
        ("base-time 1000", "base-time 99999999999999999999", "line 5: `base-time` is `99999999999999999999`"),
        ("base-time 1000 ", "", "line 3: `base-time` is missing"),
        (
            "base-time 1000",
            "base-time 1000 cycle-time 499999",
            "line 6: `cycle-time` of `eth0` is 499999 ns, and the intervals add up to 500000 ns, 1 ns more",
        ),
        ("base-time 1000", "base-time 1000 cycle-time 0", "line 5: the cycle of `eth0` is above zero"),
        ("clockid CLOCK_TAI", "", "line 3: `clockid` is missing"),
        (
            "clockid CLOCK_TAI",
            "clockid CLOCK_TAI < params",
            "line 7: `< params`: without this file the command does not",
        ),
        ("clockid CLOCK_TAI", "clockid CLOCK_SUN", "line 7: `clockid SUN`: expected one of CLOCK_TAI"),
        ("clockid CLOCK_TAI", "clockid CLOCK_TAI flags 0x2", "line 3: `flags 0x2` and `clockid`"),
        ("clockid CLOCK_TAI", "clockid CLOCK_TAI flags 0x1", "line 3: `flags 0x1` (txtime-assist): taprio itself"),
        ("clockid CLOCK_TAI", "clockid CLOCK_TAI flags 0x4", "line 7: `flags` is `0x4`"),
        ("dev eth0 parent", "parent", "line 3: `dev` and an interface are missing"),
        ("parent root", "", "line 3: `root` or `parent root` is missing"),
        ("parent root", "parent 1:2", "line 3: `parent 1:2`: taprio can only be the root"),
        ("replace", "change", "line 3: `tc qdisc change ... taprio`: add or replace"),
        ("taprio", "tbf", "line 0: the script has no command `tc qdisc replace dev"),
        ("ip link set eth0 up", "exit 0", "line 0: the script has no command `tc qdisc replace dev"),
        ("#!/bin/sh", "#!/usr/bin/python3", "line 1: `/usr/bin/python3` is no shell"),
        // Faults of the shell syntax.
        ("base-time 1000 \\\n", "base-time 1000\n", "line 6: `sched-entry`: to a shell this begins a command"),
        ("base-time 1000 \\\n", "base-time 1000 \\ \n", "line 5: blanks after `\\`"),
        ("base-time 1000 \\\n", "base-time 1000 \\\r\n", "line 5: the line ends in a carriage return"),
        ("base-time 1000 \\\n", "base-time 1000 # now \\\n", "line 5: `\\` at the end of a comment"),
        ("base-time 1000 \\\n", "base-time 1000 # now\n", "line 6: `sched-entry`: to a shell"),
        ("base-time 1000", "base-time 1000 ;", "line 6: `sched-entry`: to a shell"),
        ("base-time 1000", "base-time $START", "line 5: `$START` is not assigned"),
        ("base-time 1000", "base-time $(date +%s)", "line 5: `$`: only variables"),
        ("base-time 1000", "base-time `date`", "line 5: the output of a command"),
        ("base-time 1000", "base-time \"1000", "line 5: the quote `\"` is not closed"),
        ("tc qdisc", "for i in 1; do tc qdisc", "line 3: `for`: loops"),
        ("tc qdisc", "if true; then tc qdisc", "line 3: `if`: loops"),
        ("tc qdisc", "DEV=eth0 tc qdisc", "line 7: `DEV=` before a command"),
        ("tc qdisc", "timeout 5 tc qdisc", "line 3: `timeout`: its use of `tc`"),
        (" # the rest", " | cat", "line 7: `|`: pipes"),
        (" # the rest", " &", "line 7: `&`: commands in the background"),
        (" # the rest", " > ", "line 7: `>` without the name of a file"),
        (" # the rest", "\ntc qdisc del dev eth0 root", "line 8: this takes the gates of line 3 off `eth0`"),
        (" # the rest", "\ntc -force qdisc del dev eth0 root", "line 8: this takes the gates of line 3 off"),
        (" # the rest", "\ntc q d dev eth0 root", "line 8: this takes the gates of line 3 off"),
        (" # the rest", "\ntc qdisc r dev eth0 estimator 1s 1s root pfifo", "line 8: this takes the gates of"),
        (" # the rest", "\nsudo -u root tc qdisc del dev eth0 root", "line 8: this takes the gates of line 3 off"),
        (" # the rest", "\nsudo -g 0 tc qdisc del dev eth0 root", "line 8: `-g`: its use of `tc`"),
        (" # the rest", "\ntc -batch f", "line 8: `tc -batch` is not followed"),
        (" # the rest", "\ntc -b f", "line 8: `tc -b` is not followed"),
        (" # the rest", "\ntc exec bpf", "line 8: `tc exec` is not followed"),
        (" # the rest", "\ntc qdisc remove dev eth0 root", "line 8: `tc qdisc remove` is no command of tc"),
        (" # the rest", "\nsh -c 'x; tc qdisc del dev eth0 root'", "line 8: `sh`: its use of `tc`"),
        (" # the rest", "\nxargs /sbin/tc qdisc", "line 8: `xargs`: its use of `tc`"),
        // Commands that affect frames between the gates and the link.
        (
            " # the rest",
            "\ntc q a dev eth0 parent 100:3 handle 3: netem loss 50%",
            "line 8: `netem` below the gates of `eth0`",
        ),
        (
            " # the rest",
            "\ntc qdisc replace dev eth0 parent 100:3 tbf rate 1mbit",
            "line 8: `tbf` below the gates of `eth0`",
        ),
        // Commands that take the interface down, and filters that change the class of frames.
        (" # the rest", "\nip link set eth0 down", "line 8: this takes `eth0` down, and no later command"),
        (" # the rest", "\nip -n a l s dev eth0 mtu 9000 down", "line 8: this takes `eth0` down"),
        (" # the rest", "\nsudo /sbin/ip link set eth0 down", "line 8: this takes `eth0` down"),
        (" # the rest", "\nip link set down eth0", "line 8: this takes `eth0` down"),
        (" # the rest", "\nip link set eth0 protodown on", "line 8: this takes `eth0` down"),
        (" # the rest", "\nifconfig eth0 down", "line 8: this takes `eth0` down"),
        (" # the rest", "\nifdown eth0", "line 8: this takes `eth0` down"),
        ("ip link set eth0 up", "ip link set eth0 down", "line 2: this takes `eth0` down"),
        ("ip link set eth0 up", "ip link set eth0 down; test -e f && ip link set eth0 up", "line 2: this takes"),
        ("ip link set eth0 up", "ip link set eth0 down; ip link set eth0 up", "accepted"),
        ("ip link set eth0 up", "ip link set eth0 down && ip link set eth0 mtu 1500 up", "accepted"),
        ("ip link set eth0 up", "ip link set eth0 down; ifconfig eth0 up", "accepted"),
        ("ip link set eth0 up", "ip link set eth0 alias down", "accepted"),
        ("ip link set eth0 up", "ip link set eth1 name eth0", "accepted"),
        (" # the rest", "\nip link set eth1 down", "accepted"),
        (" # the rest", "\nip link set eth0 netns b", "line 8: `netns b` takes `eth0` with the gates of line 3 away"),
        (" # the rest", "\nip link delete dev eth0", "line 8: this removes `eth0` with the gates of line 3"),
        (" # the rest", "\nip link set group 4 down", "line 8: `ip link set group ... down`"),
        (" # the rest", "\nip -batch f", "line 8: `ip -batch` is not followed"),
        (
            " # the rest",
            "\ntc filter add dev eth0 egress matchall action skbedit priority 1",
            "line 8: a filter of frames that leave `eth0` changes the priority of frames, and so their class",
        ),
        (
            "ip link set eth0 up",
            "tc -s filter replace dev eth0 parent ffff:fff3 protocol ip u32 match u32 0 0 action skbedit priority 0:3",
            "line 2: a filter of frames that leave `eth0` changes the priority",
        ),
        (
            " # the rest",
            "\ntc filter add dev eth0 egress bpf da obj f.o",
            "line 8: a filter of frames that leave `eth0` `bpf`",
        ),
        (" # the rest", "\ntc filter add dev eth0 egress matchall action drop", "line 8: a filter of frames"),
        (" # the rest", "\ntc filter add dev eth0 egress matchall action pass", "accepted"),
        (" # the rest", "\ntc filter add dev eth0 ingress matchall action skbedit priority 1", "accepted"),
        (" # the rest", "\ntc filter add dev eth1 egress matchall action skbedit priority 1", "accepted"),
        (" # the rest", "\ntc filter show dev eth0 egress", "accepted"),
        ("base-time 1000", "base-time 1000 max-sdu", "line 5: `max-sdu` has 1 to 16 sizes"),
        ("base-time 1000", "base-time 1000 max-sdu 1 -1", "line 5: `-1` is no word of taprio"),
        ("base-time 1000", "base-time 1000 max-sdu 0x10", "line 5: `max-sdu` has 1 to 16 sizes"),
        ("base-time 1000", "base-time 1000 fp", "line 5: `fp` has 1 to 16 letters"),
        ("base-time 1000", "base-time 1000 fp E Q", "line 5: `Q` is no word of taprio"),
        (
            "S 06",
            "S 128",
            "line 7: `sched-entry` with the mask `128`: masks are hexadecimal, and this one opens gate 8,",
        ),
        // Commands that never run, or that run only under a condition.
        ("ip link set eth0 up\n", "false && ", "line 2: `false` always fails"),
        ("ip link set eth0 up", "sudo false || exit 1", "line 2: `false` always fails"),
        ("ip link set eth0 up\n", "test -e f && ", "line 2: `test` before `&&`: whether the gates after it are set"),
        ("ip link set eth0 up\n", "grep -q x f && ip link && ", "line 2: `grep` before `&&`: whether the gates"),
        ("ip link set eth0 up\n", "ip netns exec a grep -q x f &&\n", "line 2: `grep` before `&&`: whether the gates"),
        (" # the rest", " || true # more \\", "line 7: `\\` at the end of a comment"),
        (" # the rest", " || true #", "accepted"),
        (" # the rest", " || true#", "line 7: `||`: only `|| true`"),
        // Commands that end the script.
        (" # the rest", "\nexec 2>log\ntc qdisc del dev eth0 root", "line 9: this takes the gates of line 3 off"),
        (" # the rest", "\nexec tc qdisc del dev eth0 root", "line 8: this takes the gates of line 3 off"),
        ("ip link set eth0 up", "test -e f && exit 0", "line 2: `exit` after `&&`"),
        ("ip link set eth0 up", "test -e f &&\nexec true", "line 3: `exec` after `&&`"),
        ("ip link set eth0 up", "test -e f && DEV=eth1", "line 2: `DEV=eth1` after `&&`"),
        ("ip link set eth0 up", "return 0", "line 2: `return`: outside of a function"),
        // Whitespace that does not separate words in a shell.
        ("#!/bin/sh\n", "#!/bin/sh\r\n", "line 1: the line ends in a carriage return"),
        ("CLOCK_TAI # the rest", "CLOCK_TAI\r", "line 7: a carriage return"),
        ("num_tc 3", "num_tc\u{a0}3", "line 4: the blank U+00A0"),
        ("num_tc 3", "num_tc\u{b}3", "line 4: the blank U+000B"),
        (" # the rest", " || true\r", "line 7: `||`: only"),
        // Variables.
        ("dev eth0", "dev $DEV", "line 3: `$DEV` is not assigned before"),
        ("ip link set eth0 up", "\"DEV=eth0\"; echo $DEV", "line 2: `$DEV` is not assigned before"),
        ("ip link set eth0 up", "DEV\"=\"eth0; echo $DEV", "line 2: `$DEV` is not assigned before"),
        ("ip link set eth0 up", "DEV=eth0; unset DEV", "line 2: `unset`: its effect on variables"),
        ("ip link set eth0 up", "read DEV", "line 2: `read`: its effect on variables"),
        ("ip link set eth0 up", "eval DEV=eth1", "line 2: `eval`: the commands that it runs"),
        ("ip link set eth0 up", ". ./names.sh", "line 2: `.`: the commands that it runs"),
        ("ip link set eth0 up", "trap 'ip link' EXIT", "line 2: `trap`: the commands that it runs"),
        (" # the rest", " > $LOG", "line 7: `$LOG` is not assigned before"),
        ("ip link set eth0 up", "A='a b'; ip link > $A", "line 2: `$A` is no single word"),
        ("ip link set eth0 up", "ip link > > f", "line 2: `>` without the name of a file"),
        // Commands with an effect on variables or on the shell that this reader does not follow.
        ("ip link set eth0 up", "D=eth; D+=0; echo $D", "line 2: `D+=`: bash appends, and sh searches"),
        ("ip link set eth0 up", "printf -v DEV eth0", "line 2: `printf -v` assigns a variable"),
        ("ip link set eth0 up", "IFS=,", "line 2: `IFS=,`: the variable has a meaning"),
        ("ip link set eth0 up", "export IFS=,", "line 2: `IFS=,`: the variable has a meaning"),
        ("ip link set eth0 up", "PATH=/opt/bin:/sbin", "line 2: `PATH=/opt/bin:/sbin`: with it the programs"),
        ("ip link set eth0 up", "PATH=/sbin:/usr/sbin:/bin:/usr/bin", "accepted"),
        ("ip link set eth0 up", "A='a b'; export B=$A", "line 2: `export` of `$A`: some shells split"),
        ("ip link set eth0 up", "A='a b'; export B=\"$A\"", "accepted"),
        ("ip link set eth0 up", "readonly A=b; A=c", "line 2: `A` is readonly since line 2"),
        ("ip link set eth0 up", "readonly A=b; echo $A", "accepted"),
        ("ip link set eth0 up", "echo ${A:-b}", "line 2: `${A...`: only ${NAME}"),
        ("ip link set eth0 up", "set -n", "line 2: `set -n`: only -e, -u, -x and -v"),
        ("ip link set eth0 up", "set -o noexec", "line 2: `set -o noexec`: only -e"),
        ("ip link set eth0 up", "set -en", "line 2: `set -en`: only -e"),
        ("ip link set eth0 up", "set -- a b", "line 2: `set --`: only -e"),
        ("ip link set eth0 up", "set -euo pipefail", "line 2: `set -o pipefail`: some shells refuse it"),
        ("ip link set eth0 up", "set -eux; set +x -o nounset", "accepted"),
        ("ip link set eth0 up", "shopt -s nullglob", "line 2: `shopt`: of the options of a shell"),
        ("#!/bin/sh", "#!/bin/sh -n", "line 1: `/bin/sh -n`: only -e"),
        ("#!/bin/sh", "#!/bin/sh -e", "accepted"),
        ("#!/bin/sh", "#!/usr/bin/zsh", "line 1: `/usr/bin/zsh` is no shell that is followed"),
        ("#!/bin/sh", "#!/bin/tcsh", "line 1: `/bin/tcsh` is no shell that is followed"),
        ("#!/bin/sh", "\u{feff}#!/bin/sh", "line 1: a byte order mark"),
        ("dev eth0", "dev eth{0,1}", "line 3: `{`: groups of commands and lists in braces"),
        ("ip link set eth0 up", "A=~/log", "line 2: `~` is a home directory"),
        ("base-time 1000", "base-time 1000>log", "line 5: digits before `>` are a descriptor"),
        ("ip link set eth0 up", "! ip link set eth0 up", "line 2: `!`: loops"),
        // Programs with unknown or unsupported effects.
        ("tc qdisc", "./tc qdisc", "line 3: `./tc`: which program this is"),
        ("ip link set eth0 up", "./setup.sh", "line 2: `./setup.sh`: whether this program changes gates"),
        ("ip link set eth0 up", "systemctl restart networking", "line 2: `systemctl`: whether this program"),
        ("ip link set eth0 up", "iptables -t mangle -A POSTROUTING -j X", "line 2: `iptables`: its effect on frames"),
        ("ip link set eth0 up", "ethtool -L eth0 combined 1", "line 2: `ethtool -L` changes the number"),
        ("ip link set eth0 up", "set -e\nls /nonexistent", "line 3: `ls` may fail, and the script end here"),
        ("ip link set eth0 up", "set -e\nls /nonexistent || true", "accepted"),
        ("ip link set eth0 up", "test -e f || exit 1", "line 2: `test` may fail, and the script end here"),
        (" # the rest", "\nset -e\nls /nonexistent", "accepted"),
        // `tc` commands that the kernel refuses, and similar commands that it accepts.
        ("tc qdisc replace", "tc qdisc add dev eth0 root handle 1: pfifo\ntc qdisc add", "line 4: the kernel refuses"),
        ("tc qdisc replace", "tc qdisc add dev eth0 root handle 100: pfifo\ntc qdisc replace", "line 4: the kernel"),
        ("tc qdisc replace", "tc qdisc add dev eth0 root handle 1: pfifo\ntc qdisc replace", "accepted"),
        ("tc qdisc replace", "tc qdisc add dev eth0 root pfifo\ntc qdisc del dev eth0 root\ntc qdisc add", "accepted"),
        ("tc qdisc replace", "tc qdisc del dev eth0 root\ntc qdisc add", "accepted"),
        ("tc qdisc replace", "set -e\ntc qdisc del dev eth0 root\ntc qdisc add", "line 4: `tc qdisc del` fails, and"),
        ("tc qdisc replace", "set -e\ntc qdisc del dev eth0 root || true\ntc qdisc add", "accepted"),
        ("tc qdisc replace", "tc qdisc del dev eth0 root && tc qdisc add", "line 3: `tc qdisc del` fails, and the"),
        ("tc qdisc replace", "tc qdisc del dev eth0 root || exit 1\ntc qdisc add", "line 3: `tc qdisc del` fails"),
        ("tc qdisc replace", "set -e; tc qdisc add dev eth0 clsact; tc qdisc replace", "accepted"),
        (
            "tc qdisc replace",
            "test -e f && tc qdisc add dev eth0 root handle 1: pfifo\ntc qdisc add",
            "line 4: whether the kernel accepts these gates is not known here: the queue discipline of `eth0`",
        ),
        ("tc qdisc replace", "tc qdisc add dev eth0 root netem delay 1\ntc qdisc add", "line 4: whether the kernel"),
        ("dev eth0 parent", "dev eth0 dev eth1 parent", "line 3: duplicate `dev`, after `dev eth0`"),
        ("parent root", "parent root root", "line 3: `root` gives a second parent"),
        ("handle 100", "handle 100 handle 101", "line 3: duplicate `handle`"),
        ("handle 100", "handle 10000:", "line 3: `handle 10000:`: expected"),
        ("ip link set eth0 up", "ip -n a link set eth0 up", "line 2: `eth0` in another network namespace"),
        ("ip link set eth0 up", "tc qdisc add dev eth0 root pfifo; ip link set eth0 name b", "line 2: `eth0` has a"),
    ];
    let mut wrong: Vec<String> = Vec::new();
    for (good, bad, message) in rows {
        let changed = GOOD.replacen(good, bad, 1);
        assert_ne!(changed, GOOD, "{good}");
        let error = parse(&changed).map_or_else(|error| error.to_string(), |read| format!("accepted: {read:?}"));
        if !error.starts_with(message) {
            wrong.push(format!("{bad:?}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Scripts with random changes of a few characters: each script is accepted or refused, without a panic.
#[test]
fn mutated_scripts_are_read_or_refused() {
    let base: Vec<char> = GOOD.chars().collect();
    let mut state = 1u64;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let odd: Vec<char> = "\\\n\r;&|<>()$`'\"#{}*?[=@0x \u{7f}é".chars().collect();
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut text = base.clone();
        for _ in 0..=next(3) {
            let at = next(text.len());
            let count = next(3);
            let put: Vec<char> = (0..count).map(|_| odd[next(odd.len())]).collect();
            let to = (at + next(4)).min(text.len());
            text.splice(at..to, put);
        }
        let text: String = text.into_iter().collect();
        let read = parse(&text).is_ok();
        refused += usize::from(!read);
        // A carriage return would be a part of a word: accepted scripts have it only in comments and quotes.
        for line in text.split('\n').filter(|line| read && line.contains('\r')) {
            let before = &line[..line.find('\r').unwrap_or(0)];
            assert!(before.contains(['#', '\'', '"', '\\']), "{text:?}");
        }
    }
    assert!((5_000..20_000).contains(&refused), "{refused}");
}

#[test]
fn sizes_and_preemption_and_the_clock_are_those_of_the_command() {
    let of = |change: &str| parse(&GOOD.replace("clockid CLOCK_TAI", change)).unwrap().remove(0);
    let plain = of("clockid CLOCK_TAI");
    assert_eq!((plain.longest_frame_bytes, plain.preempts, plain.clock), ([u64::MAX; 8], false, "TAI"));
    // Bytes of frames: payload plus 18. Priority 3 has class 0 (200 B), priority 2 has class 1 (1500 B); class 2 has no
    // limit.
    let limited = of("max-sdu 200 1500 0 clockid CLOCK_MONOTONIC fp E P");
    let mut longest = [u64::MAX; 8];
    (longest[3], longest[2]) = (218, 1518);
    assert_eq!((limited.longest_frame_bytes, limited.preempts, limited.clock), (longest, true, "MONOTONIC"));
    assert!(!of("fp E E E clockid CLOCK_TAI").preempts);
    assert_eq!(of("flags 0x2").clock, "TAI");
}

#[test]
fn append_assignments_and_values_of_assignments_are_those_of_bash() {
    let bash = |text: &str| GOOD.replace("#!/bin/sh\n", &format!("#!/bin/bash\nset -euo pipefail\n{text}\n"));
    let expected = parse(GOOD).unwrap().remove(0).states;
    let entries = "E='sched-entry S 01 300000'\nE+=' sched-entry S 06 200000'\nreadonly F=\"$E\"";
    let text = bash(entries)
        .replace("sched-entry S 01 300000 \\\n", "$F \\\n")
        .replace("  sched-entry S 06 200000 clockid", "  clockid");
    assert_eq!(parse(&text).unwrap()[0].states, expected, "{text}");
    let device = bash("D=eth\nD+=0").replace("dev eth0", "dev $D");
    assert_eq!(parse(&device).unwrap()[0].interface, "eth0");
    let error = parse(&bash("D+=0")).unwrap_err().to_string();
    assert!(error.contains("`D+=`: `D` is not assigned before"), "{error}");
}

//! Notes for the operator who loads a fragment.

use super::{PlatformBuffers, Settings};
use crate::export::factorise::{UnsupportedSwitch, factorise};
use crate::export::marks::Marks;
use crate::export::view::SwitchView;

/// Returns the notes for the fragment of this switch.
///
/// # Errors
/// [`UnsupportedSwitch`], like [`fragment`](super::fragment).
pub fn notes(view: &SwitchView, marks: &Marks, settings: &Settings) -> Result<Vec<String>, UnsupportedSwitch> {
    let factors = factorise(view, marks, settings.binding)?;
    let used = 1 + factors.kept.len() + factors.groups.len();
    let mut notes = vec![format!("{}: {used} of {} traffic classes", view.name(), marks.traffic_classes())];
    let by_egress = factors.classes_by_egress(marks);
    if !by_egress.is_empty() {
        let classes: Vec<String> = by_egress.iter().map(u8::to_string).collect();
        notes.push(format!(
            "{}: the queue of traffic class {} depends on the egress port: right only where TC_TO_QUEUE_MAP binds at \
             egress",
            view.name(),
            classes.join(", ")
        ));
    }
    Ok(notes)
}

/// Returns notes about all switches of an export; `given` is the buffer configuration of one of these switches.
pub fn general_notes(marks: &Marks, settings: &Settings, given: &PlatformBuffers<'_>) -> Vec<String> {
    let mut notes = notes_of_maps(marks, settings);
    notes.push(super::order::note());
    if given.rows.is_none() && given.platform.is_none() {
        notes.push(
            "Nothing is known of the platform (--platform, --pg-profile). xoff is computed from rate, cable and --mtu, \
             and most platforms publish more in pg_profile_lookup.ini: compare before loading. size is xoff + xon, as \
             where a group holds its own headroom; on Broadcom size is the guaranteed minimum, and xoff lies in a \
             shared headroom pool. BUFFER_PROFILE names the pool ingress_lossless_pool and BUFFER_QUEUE the profile \
             egress_lossless_profile, which the platform must define. Its ranges that overlap, such as Ethernet0|3-4 \
             beside Ethernet0|3, must be removed first: SONiC refuses both together. A priority group or queue that is \
             lossless until now and has no priority of these rules stays lossless, without PFC: give it a lossy \
             profile."
                .to_owned(),
        );
    } else if given.rows.is_none() {
        notes.push(
            "No pg_profile_lookup.ini was given (--pg-profile): a port for which the platform's file has no lossless \
             profile gets the computed headroom, with size = xoff + xon."
                .to_owned(),
        );
    }
    if given.below {
        notes.push(
            "--below-platform: headroom is as computed even where the platform publishes more. Less than the hardware \
             needs loses lossless packets."
                .to_owned(),
        );
    }
    if given.share_headroom {
        notes.push(
            "--share-headroom: the shared headroom pool may be smaller than the headroom of all groups. When many of \
             them fill it at once, lossless packets are lost."
                .to_owned(),
        );
    }
    notes
}

/// Describes the DSCPs that hosts must use for lossless traffic: those of the first tags of classes.
fn sent_by_hosts(marks: &Marks, settings: &Settings) -> String {
    let mut tags = settings.first_tags.clone();
    tags.sort_unstable();
    tags.dedup();
    let tags: Vec<String> = tags.iter().map(|&tag| format!("{} (tag {tag})", marks.dscp(Some(tag)))).collect();
    format!(
        "Hosts must send lossless traffic with DSCP {}. Every DSCP of no lossless tag is lossy with these maps, also \
         one that is lossless until now: with --platform the notes of each switch name those.",
        tags.join(", ")
    )
}

fn notes_of_maps(marks: &Marks, settings: &Settings) -> Vec<String> {
    let kept: Vec<String> = marks.kept().iter().map(|kept| kept.dscp.to_string()).collect();
    let but = if kept.is_empty() { String::new() } else { format!(" but {}", kept.join(", ")) };
    vec![
        "The schema is that of SONiC's public sources; no switch was configured with it.".to_owned(),
        sent_by_hosts(marks, settings),
        "TC_TO_DSCP_MAP on a port needs SONiC 202211 or later.".to_owned(),
        "Whether TC_TO_QUEUE_MAP binds at the ingress or at the egress port depends on the ASIC: these maps assume \
         what --queue-map says. With the other binding packets of a new tag wait in the queue of the old one, and a \
         PAUSE for the new one does not stop them: they are lost, and any loop of links can deadlock."
            .to_owned(),
        "SCHEDULER and QUEUE give all queues in use equal shares (DWRR). Keep a share for the lossy queue: packets \
         that turn lossy there count against a lossless priority group, and under strict priority another class can \
         stop that group for ever."
            .to_owned(),
        format!(
            "TC_TO_DSCP_MAP remarks every packet of its class: untagged packets of every DSCP{but} leave with DSCP {}. \
             Give others a class of their own with --keep.",
            marks.lossy().dscp
        ),
        "Overrides, for every port of the fabric: all fields of PORT_QOS_MAP of the fragment; `scheduler` in QUEUE \
         for each queue in use; `profile` in BUFFER_PG and BUFFER_QUEUE for each lossless priority, and for each \
         that --platform has as lossless and that is lossy with these rules; PFC_WD, with POLL_INTERVAL for the whole \
         switch."
            .to_owned(),
        "Omits, and so leaves as they are: ports without a cable in the fabric, BUFFER_POOL, profiles of egress \
         queues, groups and queues that are lossy until now, WRED_PROFILE and `wred_profile` in QUEUE (marks for \
         DCQCN), maps of 802.1p, of tunnels and of MPLS, DEVICE_METADATA."
            .to_owned(),
    ]
}

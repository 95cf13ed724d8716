//! What servers used, as a table.

use hammer_measure::Nanos;

use crate::report::servers::{
    ComponentResources, MachineResources, MachineUse, RemoteMachineResources, ServerResources,
};

use super::number::{bytes, grouped};
use super::page::Page;
use super::saturation;

pub(super) fn render(page: &mut Page, servers: &ServerResources) {
    if !servers.components.is_empty() {
        table(page, servers);
    }
    servers.saturation.iter().for_each(|of| saturation::render(page, of));
    page.paragraph("machine", &machine(&servers.machine));
    for RemoteMachineResources { name, figures, gaps, .. } in &servers.machines {
        let missed = match gaps {
            0 => String::new(),
            gaps => format!("; {} looks found nothing out", grouped(*gaps)),
        };
        let told = if figures.cores == 0 { "not seen".to_owned() } else { machine(figures) };
        page.paragraph("  other", &format!("{name}, {told}{missed}"));
    }
}

fn table(page: &mut Page, servers: &ServerResources) {
    let window = Nanos(servers.window_ns);
    page.paragraph("servers", &format!("CPU in cores over measurement, at most over {window}"));
    page.line(&row(
        "  component",
        ["idle", "mean", "at most", "memory", "CPU/op", "op/core-s"].map(str::to_owned),
    ));
    for component in &servers.components {
        page.line(&row(&format!("  {}", component.name), cells(component)));
        if let Some(seconds) = component.held_back_s.filter(|seconds| *seconds > 0.0) {
            let text = format!("{}: held back by its limit of CPU for {seconds:.2} s", component.name);
            page.paragraph("  limit", &text);
        }
        if component.absent_s > 0.0 {
            let text = match component.cpu {
                Some(_) => "of measurement; its mean is that of the rest",
                None => "of measurement",
            };
            let text = format!("{}: not there for {:.2} s {text}", component.name, component.absent_s);
            page.paragraph("  absent", &text);
        }
        if component.gaps > 0 {
            let text = format!("{}: {} looks found nothing out", component.name, grouped(component.gaps));
            page.paragraph("  gaps", &text);
        }
    }
}

fn cells(component: &ComponentResources) -> [String; 6] {
    let or_none = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    let cores = |cores: Option<f64>| or_none(cores.map(|cores| format!("{cores:.2}")));
    [
        cores(component.idle_mean_cores),
        cores(component.cpu.map(|cpu| cpu.mean_cores)),
        cores(component.cpu.map(|cpu| cpu.max_cores)),
        or_none(component.memory_max_bytes.map(bytes)),
        or_none(component.cpu_ns_per_completed.map(|nanos| Nanos(nanos).to_string())),
        or_none(component.completed_per_core_s.map(|each| grouped(each.round() as u64))),
    ]
}

/// In 80 columns where the name has up to 18.
fn row(name: &str, [idle, mean, most, memory, each, per_core]: [String; 6]) -> String {
    format!("{name:<20} {idle:>8} {mean:>8} {most:>8} {memory:>10} {each:>10} {per_core:>10}")
}

fn machine(machine: &MachineResources) -> String {
    let shares = |shares: &MachineUse| {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        format!(
            "user {}, system {}, iowait {}, steal {}",
            percent(shares.user),
            percent(shares.system),
            percent(shares.iowait),
            percent(shares.steal),
        )
    };
    let measured = machine.measurement.as_ref().map_or_else(|| "not measured".to_owned(), shares);
    let idle = machine.idle.as_ref().map(|idle| format!(" (at rest {})", shares(idle)));
    let load = machine.load_max.map(|load| format!("; load {load:.2} at most"));
    let available = machine.memory_available_min_bytes;
    let available = available.map(|least| format!("; memory {} available at least", bytes(least)));
    let cores = machine.cores;
    let rest = [idle, load, available].into_iter().flatten().collect::<String>();
    format!("{cores} cores: {measured}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::servers::{ComponentSource, CpuFigures};

    fn component(name: &str, cpu: Option<CpuFigures>, gaps: u64) -> ComponentResources {
        ComponentResources {
            name: name.to_owned(),
            source: ComponentSource::Processes,
            idle_mean_cores: cpu.map(|_| 0.01),
            cpu,
            memory_max_bytes: cpu.map(|_| 512_000_000),
            held_back_s: cpu.map(|_| 1.5),
            cpu_ns_per_completed: None,
            completed_per_core_s: None,
            samples: 60,
            gaps,
            absent_s: gaps as f64 * 4.0,
        }
        .per_completed(15_000)
    }

    fn remote(name: &str, cores: u32, gaps: u64) -> RemoteMachineResources {
        let using = MachineUse { user: 0.5, system: 0.0, iowait: 0.25, steal: 0.0 };
        let figures = MachineResources {
            cores,
            idle: None,
            measurement: (cores > 0).then_some(using),
            load_max: None,
            memory_available_min_bytes: None,
        };
        RemoteMachineResources { name: name.to_owned(), figures, samples: 60, gaps }
    }

    #[test]
    fn each_component_has_a_row_of_eighty_columns_and_what_is_not_known_a_dash() {
        let cpu = CpuFigures { used_s: 51.0, mean_cores: 0.85, max_cores: 1.5 };
        let using = MachineUse { user: 0.341, system: 0.1, iowait: 0.0, steal: 0.02 };
        let servers = ServerResources {
            saturation: None,
            every_ns: 1_000_000_000,
            window_ns: 10_000_000_000,
            idle_ns: 0,
            components: vec![
                component("rekor", Some(cpu), 0),
                component("fulcio", None, 3),
                component("tsa", Some(cpu), 1),
            ],
            machine: MachineResources {
                cores: 4,
                idle: None,
                measurement: Some(using),
                load_max: Some(3.2),
                memory_available_min_bytes: Some(1_200_000_000),
            },
            machines: vec![remote("database", 8, 0), remote("gone", 0, 61)],
        };
        let mut page = Page::default();
        render(&mut page, &servers);
        let text = page.into_string();
        let expected = "\
servers    CPU in cores over measurement, at most over 10.0s
  component              idle     mean  at most     memory     CPU/op  op/core-s
  rekor                  0.01     0.85     1.50   512.0 MB     3.40ms        294
  limit    rekor: held back by its limit of CPU for 1.50 s
  fulcio                    -        -        -          -          -          -
  absent   fulcio: not there for 12.00 s of measurement
  gaps     fulcio: 3 looks found nothing out
  tsa                    0.01     0.85     1.50   512.0 MB     3.40ms        294
  limit    tsa: held back by its limit of CPU for 1.50 s
  absent   tsa: not there for 4.00 s of measurement; its mean is that of the
           rest
  gaps     tsa: 1 looks found nothing out
machine    4 cores: user 34.1 %, system 10.0 %, iowait 0.0 %, steal 2.0 %; load
           3.20 at most; memory 1.2 GB available at least
  other    database, 8 cores: user 50.0 %, system 0.0 %, iowait 25.0 %, steal
           0.0 %
  other    gone, not seen; 61 looks found nothing out
";
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn without_an_operation_there_is_no_share_of_one() {
        let cpu = CpuFigures { used_s: 0.0, mean_cores: 0.0, max_cores: 0.0 };
        let idle = component("idle", Some(cpu), 0);
        assert_eq!((idle.cpu_ns_per_completed, idle.completed_per_core_s), (Some(0), None));
        assert_eq!(idle.per_completed(0).cpu_ns_per_completed, None);
    }
}

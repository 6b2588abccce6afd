import { useModel } from "../state/context";
import { css, rampLooks } from "../state/looks";
import type { Channel } from "./mapdata";
import { Swatch } from "./Swatch";

const MOST = 12;

/** What the colors stand for; clusters are told in their own panel. */
export function Legend({ channel }: { channel: Channel | null }) {
  const dark = useModel((model) => model.dark);
  const links = useModel((model) => model.links);
  const ramp = channel?.mode === "confidence" || channel?.mode === "doubt";
  return (
    <ul class="legend" aria-label="Legend">
      {channel && ramp && [0, 0.5, 1].map((share) => (
        <li key={share} class="num">
          <svg class="swatch" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" fill={css(rampLooks(channel.mode as "doubt", dark)[Math.round(254 * share)]!.color)} />
          </svg>
          {`${channel.mode} ${share}`}
        </li>
      ))}
      {channel && !ramp && channel.legend.slice(0, MOST).map((name, i) => <li key={name}><Swatch id={i} /> <bdi>{name}</bdi></li>)}
      {channel && !ramp && channel.legend.length > MOST && <li>and {channel.legend.length - MOST} more</li>}
      {channel && !ramp && channel.legend.length === 0 && <li>nothing known yet</li>}
      <li><i class="sign" /> asked now</li>
      <li><i class="sign known" /> known label</li>
      <li><i class="sign doubt" /> doubtful clue</li>
      {links && <li><i class="sign line" /> broken clue</li>}
    </ul>
  );
}

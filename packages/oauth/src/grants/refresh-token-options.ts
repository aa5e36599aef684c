import { parseSeconds } from '../lifetimes.ts'
import { type LateWindows, REPEAT_WINDOW } from './refresh-decision.ts'

/** How refresh tokens rotate. */
export interface RefreshTokenOptions {
  /**
   * How long a refresh token that was used may come again and get the same successor, as long as nobody
   * has used that one: an outage of ours may have cost the client its reply. Default 24 hours; `false`
   * leaves only the ten seconds in which every client may repeat.
   */
  readonly repeatableFor?: string | number | false
  /** The same for public clients, whose copies nobody has to authenticate for. Default 1 hour. */
  readonly publicRepeatableFor?: string | number | false
  /**
   * Whether a refresh ends the access token before it, on every process within a second. Default false:
   * it lives until it expires, as requests under way and other tabs may still carry it.
   */
  readonly endsOldAccessToken?: boolean
}

const SHORTEST = REPEAT_WINDOW / 1000
const LONGEST = 7 * 24 * 3600

export function parseLateWindows(options: RefreshTokenOptions): LateWindows {
  return {
    confidential: parseWindow('repeatableFor', options.repeatableFor ?? '24h'),
    public: parseWindow('publicRepeatableFor', options.publicRepeatableFor ?? '1h'),
  }
}

function parseWindow(name: keyof RefreshTokenOptions, value: string | number | false): number {
  if (value === false) return 0
  const seconds = parseSeconds(name, value)
  if (seconds < SHORTEST || seconds > LONGEST) {
    throw new TypeError(
      `${name}: ${JSON.stringify(value)} is not between 10 seconds, in which repeats always work, and 7 days. Give e.g. '24h', or false for the ten seconds alone.`,
    )
  }
  return seconds * 1000
}

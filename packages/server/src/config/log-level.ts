import { type LogArea, type LogLevel, logAreas, logLevels } from './values.ts'

/** The levels of the service's log. */
export interface LogLevels {
  /** Lowest level that is logged. `null` for the default of the mode. */
  readonly level: LogLevel | null
  /** Levels of single areas, instead of `level`. */
  readonly areas: Readonly<Partial<Record<LogArea, LogLevel>>>
}

const WANTED = `expects a level (${logLevels.join(', ')}), levels of areas (${logAreas.join(', ')}), or both, such as info,billing=debug`

/**
 * Parses the level of the log, such as `info`, `billing=debug` or `info,billing=debug,oauth=warn`.
 * @throws TypeError that names the wrong part and the expectation.
 */
export function parseLogLevel(text: string): LogLevels {
  let level: LogLevel | null = null
  const areas: Partial<Record<LogArea, LogLevel>> = {}
  for (const part of text.split(',').map((each) => each.trim())) {
    const [first = '', second] = part.split('=')
    const isKnown = isLevel(second ?? first) && part.split('=').length <= 2
    if (!isKnown) throw new TypeError(`has the part '${part}', but ${WANTED}`)
    if (second === undefined) {
      if (level !== null) throw new TypeError(`has two levels, ${level} and ${first}: keep one`)
      level = first as LogLevel
    } else {
      if (!isArea(first)) throw new TypeError(`has the area '${first}', but ${WANTED}`)
      if (areas[first]) throw new TypeError(`has two levels of the area ${first}: keep one`)
      areas[first] = second as LogLevel
    }
  }
  return { level, areas }
}

const isLevel = (word: string): word is LogLevel => logLevels.some((level) => level === word)
const isArea = (word: string): word is LogArea => logAreas.some((area) => area === word)

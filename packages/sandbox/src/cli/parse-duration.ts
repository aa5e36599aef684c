import { UsageError } from './command.ts'

const UNITS: Readonly<Record<string, string>> = {
  y: 'years',
  year: 'years',
  mo: 'months',
  month: 'months',
  w: 'weeks',
  week: 'weeks',
  d: 'days',
  day: 'days',
  h: 'hours',
  hour: 'hours',
  min: 'minutes',
  minute: 'minutes',
  s: 'seconds',
  sec: 'seconds',
  second: 'seconds',
}

/**
 * Parses a duration such as `1month 1h` into `{ months: '1', hours: '1' }`, the fields of the
 * control room's form.
 */
export function parseDuration(text: string): Record<string, string> {
  const fields: Record<string, string> = {}
  const parts =
    text
      .trim()
      .toLowerCase()
      .match(/[^\s,]*\d+\s*[a-z]*/g) ?? []
  if (parts.length === 0 || parts.join('').length < text.replace(/[\s,]/g, '').length) {
    throw notADuration(text)
  }
  for (const part of parts) {
    const match = /^(\d+)\s*([a-z]+)$/.exec(part)
    const [, count = '', word = ''] = match ?? []
    if (part.startsWith('-')) throw new UsageError('The clock can only move forward')
    if (word === 'm') {
      throw new UsageError(`${part} could be minutes or months: write ${count}min or ${count}month`)
    }
    const unit = UNITS[word] ?? UNITS[word.replace(/s$/, '')]
    if (unit === undefined || unit in fields) throw notADuration(text)
    fields[unit] = count
  }
  return fields
}

function notADuration(text: string): UsageError {
  return new UsageError(`${text} is not a duration. Examples: 12h, 3d, 2w, 1month, 1y, "1month 1h"`)
}

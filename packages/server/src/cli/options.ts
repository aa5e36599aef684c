import { UsageError } from './usage-error.ts'

/** An option of a command: its description in the help, and a function that parses its value. */
export interface CommandOption<Value> {
  /** Placeholder of the value in the help, such as `<url>`. `null` for a switch without a value. */
  readonly value: string | null
  readonly description: string
  readonly required?: boolean
  /**
   * Whether the option may be given several times.
   * @default false
   */
  readonly several?: boolean
  /** All possible values, for completion in a shell. Absent if the value is free text. */
  readonly choices?: readonly string[]
  /**
   * Parses the value. `flag` is the option's name on the command line, for messages.
   * @throws UsageError if the value cannot be used.
   */
  read(rawValue: unknown, flag: string): Value
}

const read = (given: unknown) => (typeof given === 'string' ? given : null)

/** Defines an option without a value, such as `--json`. */
export const flag = (description: string): CommandOption<boolean> => ({
  value: null,
  description,
  read: (given) => given === true,
})

export const text = (value: string, description: string): CommandOption<string | null> => ({
  value,
  description,
  read,
})

export const required = (value: string, description: string): CommandOption<string> => ({
  value,
  description,
  required: true,
  read: (given) => read(given) ?? '',
})

export const several = (value: string, description: string): CommandOption<readonly string[]> => ({
  value,
  description,
  several: true,
  read: (given) => (Array.isArray(given) ? given : []),
})

export const choice = <Name extends string>(
  names: readonly Name[],
  value: string,
  description: string,
): CommandOption<Name | null> => ({
  value,
  description,
  choices: names,
  read(given, name) {
    if (given === undefined) return null
    const known = names.find((each) => each === given)
    if (known !== undefined) return known
    throw new UsageError(
      `${name} must be one of ${names.join(', ')}, not ${JSON.stringify(given)}`,
      {
        choices: names,
      },
    )
  },
})

export const port = (description: string): CommandOption<number | null> => ({
  value: '<port>',
  description,
  read(given) {
    const words = read(given)
    if (words === null) return null
    if (/^\d+$/.test(words) && Number(words) <= 65_535) return Number(words)
    throw new UsageError(`A port must be a whole number from 0 to 65535, not ${words}`)
  },
})

/** Declares an option whose value is a whole number from 1 to `most`. */
export const count = (
  value: string,
  description: string,
  maxCount: number,
): CommandOption<number | null> => ({
  value,
  description,
  read(given, name) {
    const words = read(given)
    if (words === null) return null
    const number = /^\d{1,9}$/.test(words) ? Number(words) : 0
    if (number >= 1 && number <= maxCount) return number
    throw new UsageError(`${name} must be a whole number from 1 to ${maxCount}, not ${words}`)
  },
})

export const date = (value: string, description: string): CommandOption<Date | null> => ({
  value,
  description,
  read(given, name) {
    const words = read(given)
    if (words === null) return null
    const moment = new Date(words)
    if (Number.isNaN(moment.getTime())) throw new UsageError(`${name}: '${words}' is not a date`)
    return moment
  },
})

/** Turns the name of an option into its flag: `voidOpen` becomes `--void-open`. */
export const toFlagName = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

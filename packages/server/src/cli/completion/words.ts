import type { Command, Commands } from '../command.ts'
import { toFlagName } from '../options.ts'

/** A word that can be completed, with a short description for shells that show one. */
export interface CompletionWord {
  readonly word: string
  readonly description: string
}

/** An option that takes a value, and the values that it can have. */
export interface ValueOption {
  readonly flag: string
  /** All possible values. Empty if the value is free text. `files` for a path. */
  readonly values: readonly string[] | 'files'
}

/** The words that can follow one position of the command line. */
export interface CompletionPosition {
  /** The words of a group or of a command, such as `client` or `client create`. May be empty. */
  readonly path: string
  /** Subcommands, or the values of the first argument. */
  readonly words: readonly CompletionWord[]
  /** Options without a value, and with one. */
  readonly flags: readonly CompletionWord[]
  readonly values: readonly ValueOption[]
}

const HELP: CompletionWord = { word: '--help', description: 'show the help' }
const JSON_FLAG: CompletionWord = { word: '--json', description: 'print JSON, for scripts' }

/** The options of every command, which can also stand before its name. */
export const GLOBAL_OPTIONS: readonly (ValueOption & CompletionWord)[] = [
  {
    flag: '--as',
    word: '--as',
    description: 'name for the audit log of who runs the command',
    values: [],
  },
  {
    flag: '--config',
    word: '--config',
    description: 'module of an application that exports its own instances',
    values: 'files',
  },
]

/** Lists every position of the command line: the program itself, its groups and its commands. */
export function listPositions(commands: Commands): CompletionPosition[] {
  const groups = new Map<string, Map<string, CompletionWord>>([['', new Map()]])
  for (const [words, { summary }] of Object.entries(commands)) {
    const names = words.split(' ')
    names.forEach((word, at) => {
      const path = names.slice(0, at).join(' ')
      const known = groups.get(path) ?? new Map<string, CompletionWord>()
      groups.set(path, known)
      const isCommand = at === names.length - 1
      if (isCommand || !known.has(word)) {
        known.set(word, { word, description: isCommand ? summary : `commands of ${word}` })
      }
    })
  }
  const ofGroups = [...groups].map(([path, words]) => ({
    path,
    words: [...words.values()],
    flags: [HELP, ...(path === '' ? [VERSION] : []), ...GLOBAL_OPTIONS],
    values: GLOBAL_OPTIONS,
  }))
  return [...ofGroups, ...Object.entries(commands).map(([path, each]) => ofCommand(path, each))]
}

const VERSION: CompletionWord = { word: '--version', description: 'show the version' }

function ofCommand(path: string, { arguments: args = [], options }: Command): CompletionPosition {
  const own = Object.entries(options).map(([name, option]) => ({
    word: toFlagName(name),
    description: option.description,
    flag: toFlagName(name),
    values: option.choices ?? [],
    hasValue: option.value !== null,
  }))
  return {
    path,
    words: (args[0]?.choices ?? []).map((word) => ({ word, description: '' })),
    flags: [...own, JSON_FLAG, HELP, ...GLOBAL_OPTIONS],
    values: [...own.filter(({ hasValue }) => hasValue), ...GLOBAL_OPTIONS],
  }
}

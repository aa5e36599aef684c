import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const groups = [
  'issue',
  'refresh',
  'authorize',
  'introspect',
  'guarded',
  'openid',
  'frameworks',
  'flatness',
]

const paces = {
  quick: { leadIn: 0.1, seconds: 0.2, rounds: 3, warmUp: { units: 8000, atMost: 1 } },
  full: { leadIn: 0.1, seconds: 0.25, rounds: 14, warmUp: { units: 20_000, atMost: 3 } },
}

export const usage = `npm run bench -- [options]
  --quick               fewer rows and short rounds: a first impression in about three minutes
  --only issue,refresh  only these: ${groups.join(', ')}
  --subjects limit,tollgate
                        only these beside the floor
  --patience 30         seconds to wait for a calm moment after a disturbed sample; 1 by default
  --rounds 40           more rounds, or fewer; by default as many as 45 minutes allow, 14 at most
  --by processor        compare processor time, for a machine that has other work to do
  --beside ../before    another checkout of Tollgate, built, in the same rounds: what a change does
  --data /dev/shm       where the databases lie; by default in bench/results, which must be on a disk to say what
                        fsync costs. In memory, if others use the disk (then compare by processor)
  --json file           also write every figure to a file
A run with all rows and subjects writes RESULTS.md.`

/** @param {string[]} argv */
export function parseOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      subjects: { type: 'string' },
      rounds: { type: 'string' },
      patience: { type: 'string', default: '1' },
      by: { type: 'string', default: 'time' },
      json: { type: 'string' },
      data: { type: 'string' },
      beside: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const only = values.only?.split(',') ?? groups
  const unknown = only.find((group) => !groups.includes(group))
  if (unknown) throw new TypeError(`--only does not know ${unknown}\n${usage}`)
  const subjects = values.subjects?.split(',')
  const pace = values.quick ? paces.quick : paces.full
  return {
    help: values.help,
    json: values.json,
    data: values.data && resolve(values.data),
    beside: values.beside && resolve(values.beside),
    isWhole: !(values.quick || values.only || values.subjects),
    quick: values.quick,
    patience: Number(values.patience),
    byProcessor: values.by === 'processor',
    pace: values.rounds ? { ...pace, rounds: Number(values.rounds) } : pace,
    hasOwnRounds: values.rounds !== undefined,
    sizes: values.quick ? [1_000, 100_000] : [1_000, 1_000_000],
    wants: (group) => only.includes(group),
    hasSubject: (subject) => !subjects || subjects.includes(subject),
  }
}

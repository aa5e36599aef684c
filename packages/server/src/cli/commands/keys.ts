import { signingAlgorithms } from '@tollgate/oauth'
import { AdminProblem } from '../../admin/problems.ts'
import { type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { ALSO_IN_APPLICATIONS } from '../open.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

/** The output of `keys.list`, `keys.rotate`. */
interface KeyJson {
  readonly kid: string
  readonly algorithm: string
  readonly active_from: string
}

export const keyCommands: Commands = {
  'keys list': command({
    summary: 'list the signing keys: future, current and former ones',
    withConfig: true,
    run: (_input, context) =>
      withOperations(context, { ...ALSO_IN_APPLICATIONS, onlyReads: true }, async (opened) => {
        const { data } = await opened.perform<{ data: KeyJson[] }>('keys.list', {})
        const now = opened.database.clock.now()
        const rows = data.map((key) => {
          // Each algorithm has a key that signs, for clients that ask for it.
          const alike = data.filter(({ algorithm }) => algorithm === key.algorithm)
          return { ...key, signing: key.kid === signingKey(alike, now) }
        })
        const lines = rows.map(({ kid, algorithm, active_from, signing }) => [
          kid,
          algorithm,
          active_from,
          signing ? 'yes' : '',
        ])
        const headers = ['KID', 'ALGORITHM', 'SIGNS FROM', 'SIGNS NOW']
        return { json: rows, text: formatTable(headers, lines, 'There are no signing keys yet') }
      }),
  }),
  'keys rotate': command({
    summary: 'create a new signing key; tokens signed with the old one stay valid',
    withConfig: true,
    options: {
      immediately: option.flag(
        'sign with the new key immediately, without publishing it in advance',
      ),
      algorithm: option.choice(
        signingAlgorithms,
        '<name>',
        `algorithm of the key: ${signingAlgorithms.join(', ')}; default: the algorithm of access tokens`,
      ),
    },
    run: ({ options: { immediately, algorithm } }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
        const input = { immediately, ...(algorithm && { algorithm }) }
        const { kid, active_from } = await perform<KeyJson>('keys.rotate', input)
        return {
          json: { kid, active_from },
          text: `The new key ${kid} is published and starts signing at ${active_from}`,
        }
      }),
  }),
  'keys revoke': command({
    summary: 'revoke a leaked signing key; every token it signed is rejected within a second',
    withConfig: true,
    arguments: [
      { name: 'kid', description: 'from the header of a token, or from `tollgate keys list`' },
    ],
    run: ({ args: [kid = ''] }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform, database }) => {
        const list = async () => (await perform<{ data: KeyJson[] }>('keys.list', {})).data
        try {
          await perform('keys.revoke', { kid })
        } catch (error) {
          if (!(error instanceof AdminProblem) || error.problem !== 'not-found') throw error
          const known = (await list()).map((key) => key.kid).join(', ')
          throw new UsageError(`There is no signing key ${kid}; the keys are ${known}`)
        }
        const signing = signingKey(await list(), database.clock.now())
        return {
          json: { kid, revoked: true, signing },
          text: `Revoked the key ${kid}: the tokens it signed are rejected. Current signing key: ${signing ?? 'no key'}`,
        }
      }),
  }),
  'keys reseal': command({
    summary:
      'encrypt the stored keys with TOLLGATE_SECRET, so that the previous secret can be removed',
    withConfig: true,
    run: (_input, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
        const { resealed } = await perform<{ resealed: number }>('keys.reseal', {})
        const done = `Re-encrypted ${formatCount(resealed, 'entry', 'entries')}. `
        const [secret, previous] =
          context.application === null
            ? ['TOLLGATE_SECRET', 'TOLLGATE_PREVIOUS_SECRET']
            : ['the first secret of the option `secret`', 'The others']
        const rest = `Everything stored is encrypted with ${secret}.`
        return {
          json: { resealed },
          text: resealed === 0 ? rest : `${done}${rest} ${previous} can be removed.`,
        }
      }),
  }),
}

/**
 * Finds the key that signs now: the active key that became active last.
 */
function signingKey(keys: readonly KeyJson[], now: Date): string | null {
  return keys.filter(({ active_from: from }) => new Date(from) <= now).at(-1)?.kid ?? null
}

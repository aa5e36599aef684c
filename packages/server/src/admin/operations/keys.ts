import { type SigningKeyInfo, signingAlgorithms } from '@tollgate/oauth'
import { z } from 'zod'
import { type Operation, operation } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { toProblem } from '../to-problem.ts'
import { instant, nameSchema } from './fields.ts'

const keyShape = z.strictObject({
  kid: z.string(),
  algorithm: z.enum(signingAlgorithms),
  active_from: instant.describe('When the key starts signing; it is published earlier'),
})
nameSchema('SigningKey', keyShape)

function keyJson({ kid, algorithm, activeFrom }: SigningKeyInfo): z.output<typeof keyShape> {
  return { kid, algorithm, active_from: activeFrom.toISOString() }
}

/**
 * Turns the failure of a database that did not answer into a problem that does not invite the caller
 * to try again, because the key may have been stored.
 */
function reportUnknownOutcome(error: unknown): never {
  const { problem } = toProblem(error)
  if (problem !== 'unavailable') throw error
  throw new AdminProblem(
    'outcome-unknown',
    'The database did not answer, so the new key may exist or not. List the keys before you repeat the request: a repeat creates another key.',
    { cause: error },
  )
}

export const keyOperations: readonly Operation[] = [
  operation({
    name: 'keys.list',
    summary: 'List the signing keys: future, current and former ones',
    route: ['GET', '/keys'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({ data: z.array(keyShape) }),
    async run(_input, { oauth }) {
      return { data: (await oauth.keys.list()).map(keyJson) }
    },
  }),
  operation({
    name: 'keys.rotate',
    summary: 'Create a new signing key; tokens signed with the old one stay valid',
    route: ['POST', '/keys'],
    role: 'admin',
    effect: 'change',
    // A process signs with a new key as soon as it has read it.
    commits: 'in-steps',
    status: 201,
    input: z.strictObject({
      immediately: z
        .boolean()
        .default(false)
        .describe('Sign with the new key immediately, without publishing it in advance'),
      algorithm: z.enum(signingAlgorithms).optional(),
    }),
    output: keyShape,
    describe: ({ immediately }, key) => ({
      ...(key && { subject: { kind: 'key', id: key.kid } }),
      details: { immediately },
    }),
    async run({ immediately, algorithm }, { oauth }) {
      const rotation = { immediately, ...(algorithm && { algorithm }) }
      return keyJson(await oauth.keys.rotate(rotation).catch(reportUnknownOutcome))
    },
  }),
  operation({
    name: 'keys.revoke',
    summary: 'Revoke a leaked signing key; every token it signed is rejected within a second',
    route: ['DELETE', '/keys/{kid}'],
    role: 'owner',
    effect: 'irreversible',
    commits: 'in-steps',
    status: 204,
    input: z.strictObject({ kid: z.string().min(1).max(200) }),
    output: z.null(),
    describe: ({ kid }) => ({ subject: { kind: 'key', id: kid } }),
    async run({ kid }, { oauth }) {
      if (!(await oauth.keys.revoke(kid))) throw notFound('signing key', kid)
      return null
    },
  }),
  operation({
    name: 'keys.reseal',
    summary: 'Encrypt the stored keys with the current secret of the service',
    description: 'Afterwards the previous secret can be removed.',
    route: ['POST', '/keys/reseal'],
    role: 'owner',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({}),
    output: z.strictObject({
      resealed: z.number().int().describe('Number of entries that were re-encrypted'),
    }),
    describe: (_input, result) => ({ details: { ...result } }),
    async run(_input, { oauth, factors, config }) {
      if (config.given.has('TOLLGATE_NEXT_SECRET')) {
        throw new AdminProblem(
          'conflict',
          'TOLLGATE_NEXT_SECRET is set, so it is too early for this step. First start every process with the new secret as TOLLGATE_SECRET and the old one as TOLLGATE_PREVIOUS_SECRET.',
        )
      }
      return { resealed: (await oauth.keys.reseal()) + (await factors.reseal()) }
    },
  }),
]

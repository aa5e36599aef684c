import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { type Story, type StoryRun, subscribe, userJob } from '../story.ts'

/** The authorization of each user. */
const authorizations = new Map<string | number, string>()

async function authorize(run: StoryRun): Promise<void> {
  await subscribe(run)
  const { user, given } = run
  const { id } = (await user.charge(given.ten, { captureLater: true })) as { id: string }
  authorizations.set(user.id, id)
}

const idOf = ({ user }: StoryRun) => authorizations.get(user.id) ?? ''

const isNow = (status: string, cents: number) => async (run: StoryRun, at: string) =>
  expect(await run.user.findAuthorization(idOf(run)), at).toMatchObject({
    status,
    captured: money(cents, 'usd'),
  })

export const captures: readonly Story[] = [
  {
    name: 'capture of a partial amount',
    before: authorize,
    job: (run) => userJob('capture', idOf(run), { amount: money(400, 'usd') }),
    outcome: isNow('captured', 400),
  },
  {
    name: 'releaseAuthorization',
    before: authorize,
    job: (run) => userJob('releaseAuthorization', idOf(run)),
    outcome: isNow('released', 0),
  },
]

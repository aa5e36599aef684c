import type { Ended } from '@tollgate/oauth'
import { withProgress } from '../../progress.ts'
import { type Command, type CommandContext, UsageError } from '../command.ts'
import { withCore } from '../open.ts'

interface Counts extends Ended {
  readonly sessions: number
}

export const restoreFinish: Command = {
  summary: 'after a restored backup: end every token, code, session and cookie issued before',
  options: [{ flags: '--yes', description: 'do not ask, for scripts' }],
  async run({ options }, context) {
    const config = await context.config(['secret'])
    return withCore(
      config,
      async ({ oauth, sessions }, _database, found) => {
        // An application keeps its own sessions.
        const isService = found === 'service'
        const before = {
          ...(await oauth.countEverything()),
          sessions: isService ? await sessions.count() : 0,
        }
        if (options.yes !== true) await ask(before, context)
        const ended = await withProgress('Ending everything', async () => {
          // First, so that no session makes a cookie after the cookies have ended.
          const count = isService ? await sessions.endEveryone() : 0
          return { ...(await oauth.endEverything()), sessions: count }
        })
        return { json: toJson(ended), text: `Ended:\n${linesOf(ended)}\n\n${AFTERWARDS}` }
      },
      { alsoInApplications: true },
    )
  },
}

const AFTERWARDS = `Everybody has to sign in again, and applications have to ask again. What else was changed
since the backup is undone: passwords, client secrets, removed users and clients. Change them again,
and run: tollgate billing sync`

async function ask(counts: Counts, context: CommandContext): Promise<void> {
  const question = `Nobody knows what was revoked after the backup, so everything issued until now ends:

${linesOf(counts)}

Running processes refuse it within a second. This cannot be undone. Go on? Type yes: `
  const answer = context.json ? null : await context.ask(question)
  if (answer === null) {
    throw new UsageError(
      `This ends everything issued until now, and nobody is there to ask:\n${linesOf(counts)}\nAdd --yes to do it.`,
    )
  }
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
}

function linesOf(counts: Counts): string {
  const personal = `, ${counts.personalAccessTokens} of them personal access tokens`
  return [
    `${counts.tokens} tokens with their refresh tokens${personal}`,
    `${counts.codes} codes and ${counts.interactions} open approvals`,
    `${counts.consents} remembered approvals of applications`,
    `${counts.sessions} sessions, and every cookie of cookie mode`,
    `${counts.keys} signing keys, in whose place a new one signs`,
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}

function toJson(counts: Counts): Record<string, number> {
  return {
    tokens: counts.tokens,
    personal_access_tokens: counts.personalAccessTokens,
    codes: counts.codes,
    open_approvals: counts.interactions,
    approvals: counts.consents,
    sessions: counts.sessions,
    keys: counts.keys,
  }
}

import type { PageMessages } from '../../messages/en.ts'
import type { PageText } from '../../messages/messages.ts'

type NoticeId = Extract<keyof PageMessages, `teams.done.${string}`>

/** A completed act, as `?done=…` names it after the redirect. */
export type CompletedTeamAct = NoticeId extends `teams.done.${infer Act}` ? Act : never

const DONE = [
  'created',
  'renamed',
  'role',
  'removed',
  'withdrawn',
  'handed-over',
  'joined',
  'left',
  'deleted',
] as const satisfies readonly CompletedTeamAct[]

export function findTeamNotice(text: string | undefined, t: PageText): string | null {
  const done = DONE.find((act) => act === text)
  return done ? t(`teams.done.${done}`) : null
}

export function teamPath(id: string, done?: CompletedTeamAct): string {
  return done ? `/teams/${id}?done=${done}` : `/teams/${id}`
}

/** What a look at one thing has shown. Only a problem makes `doctor` fail. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do about it. */
  readonly fix: string | null
}

type Make = (check: string, message: string, fix?: string) => Finding

const make =
  (level: Finding['level']): Make =>
  (check, message, fix) => ({ check, level, message, fix: fix ?? null })

export const ok = make('ok')
export const warning = make('warning')
export const problem = make('problem')

/** What a failure says, in one line. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null
  const code = (cause as NodeJS.ErrnoException | null)?.code
  return code ? `${text} (${code})` : text
}

import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { TextField } from '../../parts/fields.tsx'
import { Heading, usePage } from '../../parts/layout.tsx'
import { Fact } from '../../parts/table.tsx'
import { renderAdmin, requireRole, runOperation } from '../parts.tsx'
import { AUDIT_LOG_PATH } from './entry.tsx'

const PATH = `${AUDIT_LOG_PATH}/verify`

interface Link {
  readonly number: number
  readonly hash: string
}

type BreakKind = 'missing' | 'not-chained' | 'changed' | 'forged' | 'personal-data' | 'other-hash'

interface VerificationJson {
  readonly intact: boolean
  readonly complete: boolean
  readonly break: {
    readonly kind: BreakKind
    readonly number: number
    readonly entry_id: string | null
  } | null
  readonly checked: number
  readonly last: Link | null
  readonly unknown_seals: number
  readonly waiting: number
}

/** Input of the operation: the entry to continue from, and the entry that was noted. */
const INPUT = ['from_number', 'from_hash', 'known_number', 'known_hash'] as const

/** Adds the page that checks the audit log. */
export function addAuditVerificationPage(app: Hono<AppEnv>): void {
  app.get(PATH, requireRole('admin'), async (c) => {
    const { t } = c.get('page')
    const given = c.req.query()
    const input = Object.fromEntries(
      INPUT.flatMap((name) => (given[name] ? [[name, given[name].trim()]] : [])),
    )
    const [result, { head }] = await Promise.all([
      runOperation<VerificationJson>(c, 'audit.verify', input),
      runOperation<{ head: Link | null }>(c, 'audit.head', {}),
    ])
    return renderAdmin(
      c,
      { title: t('adminAudit.verify') },
      <>
        <Heading title={t('adminAudit.verify')} lead={t('adminAudit.verify.text')} />
        <Result result={result} input={input} />
        <section class="card stack" aria-labelledby="head">
          <h2 id="head">{t('adminAudit.verify.head')}</h2>
          {head === null ? <p>{t('adminAudit.verify.headNone')}</p> : <Head head={head} />}
        </section>
        <section class="card stack" aria-labelledby="known">
          <h2 id="known">{t('adminAudit.verify.known')}</h2>
          <form class="row bottom" action={PATH}>
            <TextField
              id="known_number"
              label={t('adminAudit.verify.number')}
              input={{
                type: 'number',
                name: 'known_number',
                min: 1,
                value: input.known_number ?? '',
                required: true,
              }}
            />
            <div class="grow">
              <TextField
                id="known_hash"
                label={t('adminAudit.verify.hash')}
                input={{
                  name: 'known_hash',
                  value: input.known_hash ?? '',
                  spellcheck: 'false',
                  required: true,
                }}
              />
            </div>
            <button type="submit">{t('adminAudit.verify.go')}</button>
          </form>
        </section>
        <p>
          <a href={AUDIT_LOG_PATH}>{t('adminAudit.back')}</a>
        </p>
      </>,
    )
  })
}

const Head: FC<{ head: Link }> = ({ head }) => {
  const { t } = usePage()
  return (
    <dl class="facts broad">
      <Fact term={t('adminAudit.place')}>{head.number}</Fact>
      <Fact term={t('adminAudit.hash')}>
        <code>{head.hash}</code>
      </Fact>
    </dl>
  )
}

const Result: FC<{ result: VerificationJson; input: Readonly<Record<string, string>> }> = (
  props,
) => {
  const { result, input } = props
  const { t } = usePage()
  const { last } = result
  const goesOn = result.intact && !result.complete && last !== null
  const rest = new URLSearchParams({
    ...input,
    ...(last && { from_number: String(last.number), from_hash: last.hash }),
  })
  return (
    <section class="card stack" aria-label={t('adminAudit.verify')}>
      <Verdict result={result} />
      <dl class="facts broad">
        <Fact term={t('adminAudit.verify.checked')}>{result.checked}</Fact>
        <Fact term={t('adminAudit.verify.waiting')}>{result.waiting}</Fact>
        {result.unknown_seals > 0 && (
          <Fact term={t('adminAudit.verify.unknown')}>{result.unknown_seals}</Fact>
        )}
      </dl>
      {goesOn && (
        <p>
          <a class="button" href={`${PATH}?${rest}`}>
            {t('adminAudit.verify.continue')}
          </a>
        </p>
      )}
    </section>
  )
}

const Verdict: FC<{ result: VerificationJson }> = ({ result }) => {
  const { t } = usePage()
  const { break: broken, complete, last } = result
  if (broken) {
    const text = t(`adminAudit.break.${broken.kind}`, { number: broken.number })
    return (
      <p class="note bad" role="alert">
        {text}{' '}
        {broken.entry_id !== null && (
          <a href={`${AUDIT_LOG_PATH}/${encodeURIComponent(broken.entry_id)}`}>
            {t('adminAudit.entry')}
          </a>
        )}
      </p>
    )
  }
  return (
    <p class="note good" role="status">
      {complete
        ? t('adminAudit.verify.intact')
        : t('adminAudit.verify.soFar', { number: last?.number ?? 0 })}
    </p>
  )
}

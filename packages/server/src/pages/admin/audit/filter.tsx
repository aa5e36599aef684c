import type { FC } from 'hono/jsx'
import { OPERATIONS } from '../../../admin/operations/all.ts'
import { TextField } from '../../parts/fields.tsx'
import { CsrfForm, usePage } from '../../parts/layout.tsx'
import { ACTOR_KINDS, AUDIT_LOG_PATH, OUTCOMES } from './entry.tsx'

/** The filter as filled in by people. All values are texts; an empty text does not filter. */
export interface AuditFilterForm {
  readonly person: string
  readonly actor_kind: string
  readonly actor: string
  readonly operation: string
  readonly outcome: string
  readonly from: string
  readonly to: string
}

/** Query parameters of the filter that are passed to the operations unchanged. */
const NAMES = [
  'actor_kind',
  'actor_id',
  'operation',
  'subject_kind',
  'subject_id',
  'owner',
  'outcome',
] as const

type Name = (typeof NAMES)[number]

/** The filter in the query of a URL, without personal data. `from` and `to` are days in UTC. */
export type AuditQuery = Partial<Readonly<Record<Name | 'from' | 'to', string>>>

export function readQuery(query: Readonly<Record<string, string>>): AuditQuery {
  const names = [...NAMES, 'from', 'to'] as const
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Converts the filter to the input of an operation. The period includes both days. */
export function filterInput({ from, to, ...others }: AuditQuery): Record<string, string> {
  return {
    ...others,
    ...(from !== undefined && { from: shiftDay(from, 0) }),
    ...(to !== undefined && { to: shiftDay(to, 1) }),
  }
}

/**
 * Returns the start of the day that is `later` days after the given one. Returns an invalid date
 * unchanged, so that the operation rejects it.
 */
function shiftDay(day: string, later: number): string {
  const at = new Date(`${day}T00:00:00Z`)
  if (!DAY.test(day) || Number.isNaN(at.getTime())) return day
  at.setUTCDate(at.getUTCDate() + later)
  return at.toISOString()
}

/** Returns the form's values for the filter in a URL. */
export function toFilterForm(query: AuditQuery): AuditFilterForm {
  return {
    person: query.owner ?? '',
    actor_kind: query.actor_kind ?? '',
    actor: query.actor_id ?? '',
    operation: query.operation ?? '',
    outcome: query.outcome ?? '',
    from: query.from ?? '',
    to: query.to ?? '',
  }
}

/** Reads the filter of the audit log from a posted form. */
export function readFilterForm(form: URLSearchParams): AuditFilterForm {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    person: text('person'),
    actor_kind: text('actor_kind'),
    actor: text('actor'),
    operation: text('operation'),
    outcome: text('outcome'),
    from: text('from'),
    to: text('to'),
  }
}

/** Operations that appear in the audit log: all except those that only read. */
const LOGGED = OPERATIONS.filter(({ effect }) => effect !== 'read')
  .map(({ name }) => name)
  .sort()

interface FilterProps {
  readonly values: AuditFilterForm
  /** Error messages by field. */
  readonly problems: Readonly<Partial<Record<'person' | 'actor', string>>>
  /** Whether a filter is active. */
  readonly isFiltered: boolean
}

/**
 * The form that filters the audit log. It uses POST, so that no e-mail address appears in a URL.
 * The response redirects to a URL with ids.
 */
export const AuditFilterFields: FC<FilterProps> = ({ values, problems, isFiltered }) => {
  const { t } = usePage()
  const isOpen = isFiltered || Object.keys(problems).length > 0
  return (
    <details class="card" open={isOpen}>
      <summary>{t('adminAudit.filterTitle')}</summary>
      <CsrfForm action={AUDIT_LOG_PATH} class="filters">
        <TextField
          id="person"
          label={t('adminAudit.person')}
          hint={t('adminAudit.personHint')}
          problem={problems.person}
          input={{ name: 'person', value: values.person, maxlength: 254 }}
        />
        <Select
          id="actor_kind"
          label={t('adminAudit.actorKind')}
          value={values.actor_kind}
          options={[
            { value: '', text: t('adminAudit.actor.any') },
            ...ACTOR_KINDS.map((value) => ({ value, text: t(`adminAudit.actor.${value}`) })),
          ]}
        />
        <TextField
          id="actor"
          label={t('adminAudit.actor')}
          hint={t('adminAudit.actorHint')}
          problem={problems.actor}
          input={{ name: 'actor', value: values.actor, maxlength: 254 }}
        />
        <Select
          id="operation"
          label={t('adminAudit.operation')}
          value={values.operation}
          options={[
            { value: '', text: t('adminAudit.operation.any') },
            ...LOGGED.map((value) => ({ value, text: value })),
          ]}
        />
        <Select
          id="outcome"
          label={t('adminAudit.outcome')}
          value={values.outcome}
          options={[
            { value: '', text: t('adminAudit.outcome.any') },
            ...OUTCOMES.map((value) => ({ value, text: t(`adminAudit.outcome.${value}`) })),
          ]}
        />
        <TextField
          id="from"
          label={t('adminAudit.from')}
          input={{ type: 'date', name: 'from', value: values.from }}
        />
        <TextField
          id="to"
          label={t('adminAudit.to')}
          input={{ type: 'date', name: 'to', value: values.to }}
        />
        <div class="row">
          <button type="submit">{t('adminAudit.filter')}</button>
          {isFiltered && <a href={AUDIT_LOG_PATH}>{t('admin.showAll')}</a>}
        </div>
      </CsrfForm>
    </details>
  )
}

interface SelectProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
}

const Select: FC<SelectProps> = ({ id, label, value, options }) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select id={id} name={id}>
      {options.map((option) => (
        <option value={option.value} selected={option.value === value}>
          {option.text}
        </option>
      ))}
    </select>
  </div>
)

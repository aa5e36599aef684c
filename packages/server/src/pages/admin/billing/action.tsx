import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { defineError } from '../../../service-error.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import {
  isSolvableInForm,
  performOrShowProblem,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import type { BILLING_DONE } from './done.ts'
import type { Payer } from './owner-data.ts'

/** Actions whose page texts have the ids `<id>.title`, `.question`, `.text` and `.go`. */
type ActTexts =
  | 'accounts.disable'
  | `people.${
      | 'signOut'
      | 'resetFactors'
      | 'role'
      | 'endSession'
      | 'revokeApplication'
      | 'revokeToken'
      | 'unlink'
      | 'cancel'
      | 'cancelNow'
      | 'extendTrial'
      | 'coupon'
      | 'promotionCode'
      | 'removeDiscounts'
      | 'planChange'
      | 'pause'
      | 'creditNote'
      | 'addTaxId'
      | 'removeTaxId'
      | 'taxExempt'
      | 'address'
      | 'comp'
      | 'endComp'
      | 'credit'
      | 'refund'
      | 'voidInvoice'}`

/** Thrown if a field of a form has an invalid value. */
export class InvalidField extends defineError('invalid-input') {
  readonly id: 'people.wrongAmount' | 'people.wrongDate' | 'people.wrongPlan'

  constructor(id: InvalidField['id']) {
    super(id)
    this.id = id
  }
}

/** Data for the form of an action. */
export interface ActionView<Subject extends Payer = Payer> {
  readonly c: Context<AppEnv>
  /** The person or team. */
  readonly payer: Subject
  /** Id of the session, subscription or invoice. Empty for actions on the whole account. */
  readonly object: string
  /** The form as it was sent, when it is shown again. */
  readonly form: URLSearchParams | null
}

/** An act on a person or team that one operation performs. */
export interface Action<Subject extends Payer = Payer> {
  readonly operation: string
  /** The notice that the page shows afterwards, as in `?done=…`. */
  readonly done: string
  /** The texts of the confirmation page. Absent if the action needs no confirmation. */
  readonly texts?: ActTexts
  /** Whether the action takes nothing away from anyone. @default false */
  readonly isHarmless?: boolean
  /**
   * Returns the input of the operation, except the person or team.
   * @throws InvalidField
   */
  input?(form: URLSearchParams, object: string): Readonly<Record<string, unknown>>
  /** Renders facts and form fields, which the confirmation page shows below its text. */
  decisions?(view: ActionView<Subject>): Promise<Child> | Child
}

/** An act on the billing of a person or team. */
export type BillingAction = Action & { readonly done: (typeof BILLING_DONE)[number] }

/** The pages of people or of teams, to which actions belong. */
export interface ActionPages<Subject extends Payer> {
  /** Path of the list of people or teams. */
  readonly path: string
  /**
   * Returns the member of an operation's input that names the person or team, such as `{ owner:
   * "team:7" }`.
   */
  readonly target: (id: string) => Readonly<Record<string, string>>
  read(c: Context<AppEnv>, id: string): Promise<Subject>
  /** Whether the operator cannot act on the person or team at all. The page says why. */
  isForbidden(c: Context<AppEnv>, subject: Subject): boolean
  /** Renders the page of the person or team with a problem. */
  render(c: Context<AppEnv>, id: string, problem: AdminProblem): Promise<Response>
}

/** Adds the confirmation page of an action, and the route of its form. */
export function addActionRoutes<Subject extends Payer>(
  app: Hono<AppEnv>,
  [name, act]: readonly [name: string, act: Action<Subject>],
  pages: ActionPages<Subject>,
): void {
  const path = `${pages.path}/:id/${name}`
  const confirm = (c: Context<AppEnv>, form: URLSearchParams | null, problem: Problem) =>
    renderActConfirmation(c, { act, pages, form, problem })
  if (act.texts) app.get(path, requireRole('viewer'), (c) => confirm(c, null, null))
  // The operation refuses operators with a lesser role, and the audit log has the attempt.
  app.post(path, requireRole('viewer'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id') ?? ''
    const page = `${pages.path}/${encodeURIComponent(id)}`
    if (isCancelled(form)) return c.redirect(page, 303)
    const work = async () => {
      const input = act.input?.(form, getObjectParam(c))
      await runOperation(c, act.operation, { ...pages.target(id), ...input }, form)
      return c.redirect(`${page}?done=${act.done}`, 303)
    }
    try {
      return await performOrShowProblem(c, work, (problem) =>
        isSolvableInForm(problem) && act.texts
          ? confirm(c, form, problem)
          : pages.render(c, id, problem),
      )
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error
      return confirm(c, form, c.get('page').t(error.id))
    }
  })
}

type Problem = AdminProblem | string | null

const getObjectParam = (c: Context<AppEnv>) => c.req.query('object') ?? ''

async function renderActConfirmation<Subject extends Payer>(
  c: Context<AppEnv>,
  {
    act,
    pages,
    form,
    problem,
  }: {
    readonly act: Action<Subject>
    readonly pages: ActionPages<Subject>
    readonly form: URLSearchParams | null
    readonly problem: Problem
  },
) {
  const { t } = c.get('page')
  const payer = await pages.read(c, c.req.param('id') ?? '')
  if (pages.isForbidden(c, payer)) return c.redirect(payer.path, 303)
  const { operation, texts = 'people.signOut' } = act
  const name = <bdi>{payer.name}</bdi>
  return renderConfirmation(c, {
    title: t(`${texts}.title`),
    question: t.parts(`${texts}.question`, { name }),
    operation,
    confirmLabel: t(`${texts}.go`),
    isHarmless: act.isHarmless ?? false,
    problem,
    children: (
      <>
        <p>{t.parts(`${texts}.text`, { name, id: payer.id })}</p>
        {await act.decisions?.({ c, payer, object: getObjectParam(c), form })}
      </>
    ),
  })
}

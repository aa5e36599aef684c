import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { defineError } from '../../../service-error.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { readOwnForm } from '../../parts/forms.ts'
import {
  getOperator,
  isSolvableInForm,
  performOrShowProblem,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import { renderPerson } from './person.tsx'
import { findActionObstacle, type PersonJson, readPerson } from './person-data.ts'
import { type CompletedAction, pathOf } from './person-path.ts'

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

/** Data for the form of an action on a person's account. */
export interface PersonActionView {
  readonly c: Context<AppEnv>
  readonly person: PersonJson
  /** Id of the session, subscription or invoice. Empty for actions on the whole account. */
  readonly object: string
  /** The form as it was sent, when it is shown again. */
  readonly form: URLSearchParams | null
}

/** An act on a person that one operation performs. */
export interface PersonAction {
  readonly operation: string
  /** The notice that the person's page shows afterwards, as in `?done=…`. */
  readonly done: CompletedAction
  /** The texts of the confirmation page. Absent if the action needs no confirmation. */
  readonly texts?: ActTexts
  /** Whether the action takes nothing away from anyone. @default false */
  readonly isHarmless?: boolean
  /**
   * Returns the input of the operation, except the id of the person.
   * @throws InvalidField
   */
  input?(form: URLSearchParams, object: string): Readonly<Record<string, unknown>>
  /** Facts and fields of the form, below the text. */
  decisions?(view: PersonActionView): Promise<Child> | Child
}

/** Adds the confirmation page of an action, and the route of its form. */
export function addPersonActionRoutes(app: Hono<AppEnv>, name: string, act: PersonAction): void {
  const path = `/admin/people/:id/${name}`
  if (act.texts)
    app.get(path, requireRole('viewer'), (c) => renderActConfirmation(c, act, null, null))
  // The operation refuses operators with a lesser role, and the audit log has the attempt.
  app.post(path, requireRole('viewer'), async (c) => {
    const form = await readOwnForm(c)
    const id = c.req.param('id') ?? ''
    if (isCancelled(form)) return c.redirect(pathOf(id), 303)
    const work = async () => {
      const input = act.input?.(form, getObjectParam(c))
      await runOperation(c, act.operation, { id, ...input }, form)
      return c.redirect(pathOf(id, act.done), 303)
    }
    try {
      return await performOrShowProblem(c, work, (problem) =>
        isSolvableInForm(problem) && act.texts
          ? renderActConfirmation(c, act, form, problem)
          : renderPerson(c, id, problem),
      )
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error
      return renderActConfirmation(c, act, form, c.get('page').t(error.id))
    }
  })
}

const getObjectParam = (c: Context<AppEnv>) => c.req.query('object') ?? ''

async function renderActConfirmation(
  c: Context<AppEnv>,
  act: PersonAction,
  form: URLSearchParams | null,
  problem: AdminProblem | string | null,
) {
  const { t } = c.get('page')
  const person = await readPerson(c, c.req.param('id') ?? '')
  // The page of the person says why.
  if (findActionObstacle(getOperator(c), person)) return c.redirect(pathOf(person.id), 303)
  const { operation, texts = 'people.signOut' } = act
  const email = <bdi>{person.email}</bdi>
  return renderConfirmation(c, {
    title: t(`${texts}.title`),
    question: t.parts(`${texts}.question`, { email }),
    operation,
    confirmLabel: t(`${texts}.go`),
    isHarmless: act.isHarmless ?? false,
    problem,
    children: (
      <>
        <p>{t.parts(`${texts}.text`, { email, id: person.id })}</p>
        {await act.decisions?.({ c, person, object: getObjectParam(c), form })}
      </>
    ),
  })
}

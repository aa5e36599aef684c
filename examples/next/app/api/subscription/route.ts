import { isBillingError } from '@tollgate/billing'
import { auth, scopes, tollgate } from '@/lib/tollgate'

export const POST = auth('api', scopes('place-orders'), async (request, { user }) => {
  const { billing } = await tollgate()
  const { card } = await request.json().catch(() => ({}))
  try {
    const customer = await billing.user(user.id)
    const subscription = await customer.newSubscription('main', 'monthly').create(card)
    return Response.json({ plan: subscription.providerPlan }, { status: 201 })
  } catch (error) {
    // A declined card is not a bug: the error has a message and an HTTP status for the caller.
    if (!isBillingError(error)) throw error
    return Response.json({ error: error.code, message: error.message }, { status: error.status })
  }
})

export const GET = auth('api', async (_request, { user }) => {
  const { billing } = await tollgate()
  const customer = await billing.user(user.id)
  const invoices = await customer.invoices()
  return Response.json({
    subscribed: await customer.subscribed('main'),
    invoices: invoices.map((invoice) => ({
      total: invoice.total(),
      pdf: `/user/invoice/${invoice.id}`,
    })),
  })
})

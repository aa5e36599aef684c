"""An account with objects of every kind, and its amounts computed independently. See ../../clients.mjs"""
import stripe


def fill():
    product = stripe.Product.create(name='Gold')
    price = stripe.Price.create(product=product.id, currency='usd', unit_amount=1000,
                                recurring={'interval': 'month'})
    coupon = stripe.Coupon.create(percent_off=20, duration='forever')
    code = stripe.PromotionCode.create(promotion={'type': 'coupon', 'coupon': coupon.id}, code='OFF')
    rate = stripe.TaxRate.create(display_name='VAT', percentage=20, inclusive=False)
    customer = stripe.Customer.create(
        email='ada@example.com', payment_method='pm_card_visa', tax_exempt='none',
        tax_id_data=[{'type': 'eu_vat', 'value': 'DE123456789'}],
    )
    method = stripe.PaymentMethod.list(customer=customer.id, type='card').data[0]
    stripe.Customer.modify(customer.id, invoice_settings={'default_payment_method': method.id})
    stripe.Customer.create_source(customer.id, source='tok_mastercard')
    stripe.SetupIntent.create(customer=customer.id, payment_method='pm_card_visa', confirm=True,
                              payment_method_types=['card'])
    stripe.InvoiceItem.create(customer=customer.id, amount=500, currency='usd', description='Setting up')
    subscription = stripe.Subscription.create(
        customer=customer.id, items=[{'price': price.id}], discounts=[{'promotion_code': code.id}],
        default_tax_rates=[rate.id],
    )
    stripe.SubscriptionSchedule.create(from_subscription=subscription.id)
    stripe.CreditNote.create(invoice=subscription.latest_invoice, amount=100, credit_amount=100)
    intent = stripe.PaymentIntent.create(amount=700, currency='usd', customer=customer.id, confirm=True,
                                         payment_method=method.id, payment_method_types=['card'])
    stripe.Refund.create(payment_intent=intent.id, amount=300)
    stripe.PaymentIntent.create(amount=900, currency='usd', customer=customer.id, confirm=True,
                                payment_method='pm_card_createDispute', payment_method_types=['card'])
    stripe.checkout.Session.create(mode='subscription', customer=customer.id, success_url='https://shop.example/',
                                   line_items=[{'price': price.id, 'quantity': 1}])
    return customer, subscription


# (1000 + 500) less 20 %, plus 20 % tax
INVOICED = 1440
# 2.9 % and 30 of each charge; a dispute takes the amount and 1500
FEES = {INVOICED: 72, 700: 50, 900: 56}

# Expected values in the copies of each model, smallest first.
FACTS = {
    'Account': {'default_currency': ['usd']},
    'Product': {'name': ['Gold'], 'active': [True]},
    'Price': {'unit_amount': [1000], 'currency': ['usd'], 'recurring.interval': ['month']},
    'Coupon': {'percent_off': [20], 'times_redeemed': [1], 'valid': [True]},
    'PromotionCode': {'code': ['OFF'], 'times_redeemed': [1]},
    'TaxRate': {'percentage': [20], 'inclusive': [False]},
    # The credit note
    'Customer': {'email': ['ada@example.com'], 'balance': [-100], 'currency': ['usd']},
    'PaymentMethod': {'card.brand': ['mastercard', 'visa', 'visa']},
    'SetupIntent': {'status': ['succeeded'], 'usage': ['off_session']},
    'Subscription': {'status': ['active'], 'collection_method': ['charge_automatically']},
    'SubscriptionItem': {'quantity': [1], 'price.unit_amount': [1000]},
    'SubscriptionSchedule': {'status': ['active'], 'end_behavior': ['release']},
    'Invoice': {'subtotal': [1500], 'total': [INVOICED], 'amount_paid': [INVOICED], 'amount_due': [INVOICED],
                'status': ['paid'], 'billing_reason': ['subscription_create']},
    'InvoiceItem': {'amount': [500], 'description': ['Setting up']},
    'LineItem': {'amount': [500, 1000]},
    'PaymentIntent': {'amount_received': [700, 900, INVOICED], 'status': ['succeeded'] * 3},
    'Charge': {'amount': [700, 900, INVOICED], 'amount_refunded': [0, 0, 300], 'disputed': [False, False, True]},
    'Refund': {'amount': [300], 'status': ['succeeded']},
    'BalanceTransaction': {
        'amount': [-900, -300, 700, 900, INVOICED],
        'fee': sorted([0, 1500, *FEES.values()]),
        'net': sorted([-2400, -300, *(amount - fee for amount, fee in FEES.items())]),
    },
    'Dispute': {'amount': [900], 'status': ['needs_response']},
    'Session': {'status': ['open'], 'amount_total': [1000], 'mode': ['subscription']},
    'Event': {'object': None},
    'WebhookEndpoint': {'status': ['enabled'], 'enabled_events.0': ['*']},
}


def ids_of(model):
    """Returns the account's objects of a model, read without dj-stripe."""
    def each(kind, **params):
        return kind.list(limit=100, **params).auto_paging_iter()

    if model == 'Account':
        found = [stripe.Account.retrieve()]
    elif model == 'PaymentMethod':
        found = [method for customer in each(stripe.Customer) for method in each(stripe.PaymentMethod, customer=customer.id)]
    elif model == 'Subscription':
        found = each(stripe.Subscription, status='all')
    elif model == 'SubscriptionItem':
        found = [item for one in each(stripe.Subscription, status='all')
                 for item in each(stripe.SubscriptionItem, subscription=one.id)]
    elif model == 'LineItem':
        found = [line for invoice in each(stripe.Invoice) for line in stripe.Invoice.list_lines(invoice.id).data]
    elif model == 'Session':
        found = each(stripe.checkout.Session)
    else:
        found = each(getattr(stripe, model))
    return {one.id for one in found}

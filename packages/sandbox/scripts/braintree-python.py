"""
The first path of a shop through Braintree's SDK for Python. See clients.mjs

It stops at the first thing that is not as it should be.
"""
import datetime
import decimal

import braintree

KEYS = ('sandbox_merchant', 'sandbox_public_key', 'sandbox_private_key')


def open_gateway(*keys):
    return braintree.BraintreeGateway(braintree.Configuration(braintree.Environment.Development, *keys))


def must(result, what):
    assert result.is_success, (what, result.message)
    print('ok', what)
    return result


def refused(result):
    assert not result.is_success
    return sorted(error.code for error in result.errors.deep_errors)


gateway = open_gateway(*KEYS)
print('version:', braintree.version.Version)

# Customer and payment method
customer = must(gateway.customer.create({
    'first_name': 'Zoë & <sons>',
    'credit_card': {
        'number': '4111111111111111',
        'expiration_date': '12/2030',
        'options': {'verify_card': True},
        'billing_address': {'street_address': '1 Rue Ada', 'country_name': 'France'},
    },
}), 'customer').customer
assert customer.first_name == 'Zoë & <sons>'
assert customer.addresses[0].country_code_alpha2 == 'FR'
token = customer.credit_cards[0].token
must(gateway.address.create({'customer_id': customer.id, 'street_address': '2 Rue Ada'}), 'address')
card = must(gateway.credit_card.create({
    'customer_id': customer.id,
    'number': '5555555555554444',
    'expiration_date': '01/2020',
    'options': {'make_default': True},
}), 'card').credit_card
assert card.default and card.expired
must(gateway.payment_method.create({
    'customer_id': customer.id,
    'payment_method_nonce': 'fake-paypal-billing-agreement-nonce',
}), 'PayPal account')

# Subscription
plan = 'python-%d' % datetime.datetime.now().timestamp()
must(gateway.plan.create({
    'id': plan,
    'name': 'Monthly',
    'price': '9.99',
    'billing_frequency': 1,
    'currency_iso_code': 'USD',
    'trial_period': False,
}), 'plan')
subscription = must(gateway.subscription.create({'payment_method_token': token, 'plan_id': plan}),
                    'subscription').subscription
assert subscription.price == decimal.Decimal('9.99')
assert subscription.transactions[0].amount == decimal.Decimal('9.99')
must(gateway.subscription.update(subscription.id, {
    'price': decimal.Decimal('19.99'),
    'options': {'prorate_charges': True},
}), 'another price')
later = datetime.date.today() + datetime.timedelta(days=40)
pending = must(gateway.subscription.create({
    'payment_method_token': token,
    'plan_id': plan,
    'first_billing_date': later,
}), 'a first billing date').subscription
assert pending.first_billing_date == later

# One-time sale
sale = must(gateway.transaction.sale({
    'amount': '5.00',
    'payment_method_token': token,
    'line_items': [
        {'name': 'Tea', 'kind': 'debit', 'quantity': '1', 'unit_amount': '5.00', 'total_amount': '5.00'},
    ],
    'options': {'submit_for_settlement': True},
}), 'sale').transaction
assert gateway.transaction_line_item.find_all(sale.id)[0].name == 'Tea'
gateway.testing.settle_transaction(sale.id)
must(gateway.transaction.refund(sale.id, '1.00'), 'refund')
assert refused(gateway.transaction.sale({'amount': '-1', 'payment_method_token': 'none'})) == ['81501', '91518']
declined = gateway.transaction.sale({'amount': '2001.00', 'payment_method_token': token})
assert declined.transaction.processor_response_code == '2001'
print('ok refusals')

# Searches
by = braintree.TransactionSearch
found = gateway.transaction.search(
    by.customer_id == customer.id,
    by.amount.between(decimal.Decimal('4.99'), decimal.Decimal('5.01')),
    by.created_at >= datetime.datetime(2020, 1, 1),
    by.status.in_list([braintree.Transaction.Status.Settled]),
)
assert [each.id for each in found.items] == [sale.id]
found = gateway.customer.search(
    braintree.CustomerSearch.first_name.starts_with('Zo'),
    braintree.CustomerSearch.address_street_address == '2 Rue Ada',
    braintree.CustomerSearch.ids.in_list([customer.id]),
)
assert [each.id for each in found.items] == [customer.id]
found = gateway.subscription.search(
    braintree.SubscriptionSearch.plan_id == plan,
    braintree.SubscriptionSearch.ids.in_list([subscription.id]),
)
assert [each.id for each in found.items] == [subscription.id]
assert card.token in [each.token for each in gateway.credit_card.expired().items]
print('ok searches')

# Client token and webhooks
assert gateway.client_token.generate({'customer_id': customer.id})
assert gateway.webhook_notification.verify('20f9f8ed05f77439fe955c977e4c8a53').startswith(KEYS[1] + '|')
print('ok client token and challenge')

# Deletion
gateway.subscription.cancel(subscription.id)
assert gateway.subscription.find(subscription.id).status == 'Canceled'
gateway.customer.delete(customer.id)
for what, call in {
    braintree.exceptions.NotFoundError: lambda: gateway.customer.find(customer.id),
    braintree.exceptions.AuthenticationError: lambda: open_gateway(KEYS[0], 'no', 'no').customer.find('1'),
}.items():
    try:
        call()
        raise SystemExit('expected %s' % what.__name__)
    except what:
        print('ok', what.__name__)
print('all as it should be')

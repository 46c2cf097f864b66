# alt: TFLOP/s of ours, cuDNN and FlashAttention-2 against the length S from 512 to 16,384, with a causal mask. Six panels: forward, backward and both passes in one call, at D = 64 above and D = 128 below.
# data: step-31.tsv peers-hopper.tsv
causal = 1
load plotdir . '/31-field.gp'

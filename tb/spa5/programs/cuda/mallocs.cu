// malloc and free: a list of its own for each thread.
struct Node { Node *next; int value; };
extern "C" __global__ void mallocs(const int *in, int *out, int n) {
    int t = threadIdx.x, sum = 0;
    Node *head = 0;
    for (int i = 0; i < in[t] && i < n; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (!node) break;
        node->next = head;
        node->value = in[i];
        head = node;
    }
    while (head) {
        Node *next = head->next;
        sum += head->value;
        free(head);
        head = next;
    }
    out[t] = sum;
}
